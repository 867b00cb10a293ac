#include "plugins/provider/azure/wire.hpp"

#include <gtest/gtest.h>

#include <muster/testing/fake_host.hpp>

#include "plugins/cloud/json_access.hpp"
#include "tests/support/fake_transport.hpp"

namespace muster::azure {
namespace {

using namespace std::chrono_literals;
using Kind = http_client::Failure::Kind;

const std::string secret = "token-that-nobody-may-see";

http_client::Response answer(int status, std::string body,
                             std::vector<http_client::Header> headers = {}) {
  return {.status = status, .headers = std::move(headers), .body = std::move(body)};
}

std::string arm_error(const std::string& code, const std::string& message = "words") {
  return json::write(json::object{{"error", json::object{{"code", code}, {"message", message}}}});
}

struct AzureWire : ::testing::Test {
  AzureWire()
      : session(transport, {},
                {.wait =
                     [this](std::chrono::milliseconds time, const Context&) {
                       waited += time;
                       context.advance(time);
                       return true;
                     },
                 .random = [] { return 0.0; }}),
        wire(session, {.resource_manager = "https://arm.example",
                       .retail_prices = "https://prices.example"}),
        tokens([this](const Context&) -> Result<FetchedToken> {
          ++fetches;
          return FetchedToken{{Secret(secret + std::to_string(fetches))}};
        }) {}

  Result<Answer> call(Call call = {.target = "/subscriptions/1/x?api-version=1"}) {
    return wire.call(call, &tokens, context);
  }
  std::string trouble(Call made = {.target = "/subscriptions/1/x?api-version=1"}) {
    const auto result = call(std::move(made));
    if (result) return "none";
    const Error& error = result.error();
    return std::string(to_string(error.error_class)) + " " + error.code + ": " + error.message;
  }

  std::shared_ptr<testing::FakeTransport> transport = std::make_shared<testing::FakeTransport>();
  testing::FakeContext context;
  std::chrono::milliseconds waited{0};
  cloud::Session session;
  Wire wire;
  int fetches = 0;
  TokenCache tokens;
};

const ErrorScope spot_scope{"westeurope", "westeurope-1", "Standard_D2/spot", "lc"};
const ErrorScope regular_scope{"westeurope", "westeurope-1", "Standard_D2", "lc"};

TEST_F(AzureWire, strange_answers_are_clear_sentences) {
  const auto says = [&](http_client::Answer given, const char* words) {
    transport->answers = {std::move(given)};
    const std::string text = trouble();
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  says(answer(200, "<html>Please log in</html>"), "a web page; is there a proxy");
  says(answer(200, R"({"value": [{"name")"), "JSON that is cut off or wrong");
  says(answer(502, "<html>Bad gateway</html>"), "HTTP status 502 and a web page");
  says(answer(302, ""), "a redirect is not followed");
  says(answer(407, ""), "the proxy wants a login");
  says(http_client::Failure{.kind = Kind::too_large}, "sent an answer of more than 16777216 bytes");
  says(http_client::Failure{.kind = Kind::no_tls}, "does not speak TLS as it should");
  says(http_client::Failure{.kind = Kind::untrusted}, "has a certificate that is not trusted");
  says(http_client::Failure{.kind = Kind::no_connection}, "it takes no connections");
}

TEST_F(AzureWire, tokens_go_to_resource_manager_alone) {
  for (const char* target :
       {"https://evil.example/next", "http://arm.example/next", "https://arm.example:444/next",
        "https://arm.example.evil.example/next", "//evil", "ftp://arm.example/"}) {
    transport->sent.clear();
    (void)call({.target = target});
    for (const auto& sent : transport->sent)
      EXPECT_TRUE(sent.url.starts_with("https://arm.example/")) << target;
  }
  transport->sent.clear();
  (void)wire.call({.target = "/api/retail/prices", .service = Service::retail_prices}, nullptr,
                  context);
  EXPECT_EQ(transport->sent.at(0).url, "https://prices.example/api/retail/prices");
  EXPECT_EQ(transport->sent.at(0).authorization.index(), 0u);
}

TEST_F(AzureWire, no_secret_is_in_any_message) {
  transport->answers = {answer(400, arm_error("InvalidParameter", "you sent " + secret + "1"))};
  EXPECT_EQ(trouble().find(secret), std::string::npos);
}

TEST_F(AzureWire, a_token_that_is_refused_is_fetched_anew_once) {
  transport->answers = {answer(401, arm_error("ExpiredAuthenticationToken")), answer(200, "{}")};
  EXPECT_EQ(trouble(), "none");
  EXPECT_EQ(fetches, 2);
  transport->answers = {answer(401, arm_error("InvalidAuthenticationToken"))};
  EXPECT_TRUE(trouble().starts_with("auth InvalidAuthenticationToken"));
}

TEST_F(AzureWire, each_error_has_the_class_scope_and_hold_of_the_table) {
  struct Row {
    const char* code;
    const char* message;
    const ErrorScope& about;
    ErrorClass error_class;
    ErrorScope scope;
    std::int64_t hold;
  };
  const ErrorScope of_size{"westeurope", "westeurope-1", "Standard_D2", {}};
  const ErrorScope of_spot{"westeurope", "westeurope-1", "Standard_D2/spot", {}};
  const ErrorScope of_quota{"westeurope", {}, "Standard_D2", {}};
  const char* const quota = "exceeding approved standardDSv3Family Cores quota. Current Limit: ";
  for (const Row& row : std::initializer_list<Row>{
           {"AllocationFailed", "", regular_scope, ErrorClass::capacity, of_size, 3600},
           {"ZonalAllocationFailed", "", spot_scope, ErrorClass::capacity, of_spot, 3600},
           {"OverconstrainedAllocationRequest", "", regular_scope, ErrorClass::capacity, of_size,
            3600},
           {"OverconstrainedZonalAllocationRequest", "", regular_scope, ErrorClass::capacity,
            of_size, 3600},
           {"SkuNotAvailable", "", spot_scope, ErrorClass::capacity, of_spot, 3600},
           {"SkuNotAvailable", "", regular_scope, ErrorClass::capacity, of_size, 82800},
           {"QuotaExceeded", "", regular_scope, ErrorClass::quota, of_quota, 600},
           {"OperationNotAllowed", quota, regular_scope, ErrorClass::quota, of_quota, 600},
           {"OperationNotAllowed", "quota. Current Limit: 0, Current Usage: 0", regular_scope,
            ErrorClass::quota, of_quota, 3600},
           {"OperationNotAllowed",
            "the disk is in use",
            regular_scope,
            ErrorClass::config,
            {"westeurope", {}, {}, "lc"},
            0},
           {"ReadOnlyDisabledSubscription", "", regular_scope, ErrorClass::auth, {}, 600},
           {"ClientAuthenticationError", "", regular_scope, ErrorClass::auth, {}, 600},
           {"AuthorizationFailed",
            "",
            regular_scope,
            ErrorClass::auth,
            {"westeurope", {}, {}, "lc"},
            300},
           {"ImageNotFound",
            "",
            regular_scope,
            ErrorClass::config,
            {"westeurope", {}, {}, "lc"},
            0}}) {
    transport->answers = {answer(409, arm_error(row.code, row.message))};
    const Error error = call({.target = "/x", .about = row.about}).error();
    EXPECT_EQ(error.error_class, row.error_class) << row.code;
    EXPECT_EQ(error.scope, row.scope) << row.code;
    EXPECT_EQ(error.code, row.message == std::string_view() || row.error_class != ErrorClass::quota
                              ? row.code
                              : "QuotaExceeded");
    EXPECT_EQ(error.hold.value_or(0s).count(), row.hold) << row.code;
  }
}

TEST_F(AzureWire, an_unknown_code_holds_the_narrowest_scope) {
  transport->answers = {answer(409, arm_error("SomethingNew"))};
  const Error error = call({.target = "/x", .about = regular_scope}).error();
  EXPECT_EQ(error.scope, regular_scope);
  EXPECT_NE(error.message.find("muster does not know the code SomethingNew"), std::string::npos);
}

TEST_F(AzureWire, too_many_requests_wait_as_long_as_azure_says) {
  auto refusal = answer(429, arm_error("TooManyRequests"));
  refusal.retry_after = 7s;
  transport->answers = {refusal, answer(200, "{}")};
  EXPECT_EQ(trouble(), "none");
  EXPECT_GE(waited, 7s);
  refusal.retry_after = 120s;
  transport->answers = {refusal};
  EXPECT_EQ(call().error().hold, 120s) << "longer than the call may take";
}

TEST_F(AzureWire, few_calls_left_slow_the_next_ones_down) {
  EXPECT_EQ(remaining_calls(answer(200, "",
                                   {{"x-ms-ratelimit-remaining-resource",
                                     "Microsoft.Compute/PutVM3Min;239,"
                                     "Microsoft.Compute/PutVM30Min;7"},
                                    {"X-Ms-RateLimit-Remaining-Subscription-Writes", "1199"}})),
            7.0);
  EXPECT_FALSE(remaining_calls(answer(200, "", {{"x-ms-ratelimit-remaining-resource", "x;y"}})));
  transport->answers = {
      answer(200, "{}", {{"x-ms-ratelimit-remaining-subscription-reads", "200"}})};
  for (int i = 0; i < 5; ++i) (void)call();
  EXPECT_EQ(waited, 0ms);
  transport->answers = {answer(200, "{}", {{"x-ms-ratelimit-remaining-subscription-reads", "2"}})};
  for (int i = 0; i < 3; ++i) (void)call();
  EXPECT_GT(waited, 0ms);
}

TEST_F(AzureWire, operations_and_pages_are_found) {
  transport->answers = {
      answer(201, R"({"properties": {}})",
             {{"Azure-AsyncOperation", "https://arm.example/operations/1"}, {"Location", "x"}})};
  EXPECT_EQ(call()->operation, "https://arm.example/operations/1");
  struct Shared final : Api {
    explicit Shared(AzureWire& own) : test(own) {}
    Result<Answer> call(const Call& made, const Context& context) override {
      return test.wire.call(made, &test.tokens, context);
    }
    Result<std::string> fetch(const std::string&, const Context&) override { return Error{}; }
    AzureWire& test;
  } api{*this};
  const auto count = [&] {
    int entries = 0;
    const auto listed = for_each_listed(
        api, {.target = "/list"}, [&](const json::object&) { ++entries; }, context);
    return listed ? entries : -1;
  };
  transport->answers = {
      answer(200, R"({"value": [{}, {}], "nextLink": "https://arm.example/list?page=2"})"),
      answer(200, R"({"value": [{}]})")};
  EXPECT_EQ(count(), 3);
  transport->answers = {answer(200, R"({"value": [{}], "nextLink": "https://evil.example/list"})")};
  EXPECT_EQ(count(), -1) << "half a list is none";
  transport->answers = {answer(200, R"({"error": "no"})")};
  EXPECT_EQ(count(), -1);
}

TEST(AzureErrors, the_innermost_reason_counts) {
  const auto code = [](const char* text) {
    return innermost_error(json::parse_object(text).value()).code;
  };
  EXPECT_EQ(code(R"({"error": {"code": "DeploymentFailed", "details": [{"code": "Conflict",
                     "details": [{"code": "SkuNotAvailable"}]}]}})"),
            "SkuNotAvailable");
  EXPECT_EQ(code(R"({"status": "Failed", "error": {"code": "AllocationFailed"}})"),
            "AllocationFailed");
  EXPECT_EQ(code(R"({"error": "invalid_client",
                     "error_description": "AADSTS7000215: Invalid client secret."})"),
            "AADSTS7000215");
  EXPECT_EQ(code(R"({"error": {"code": "Conflict", "message": "busy"}})"), "Conflict");
  EXPECT_EQ(code("{}"), "");
}

}  // namespace
}  // namespace muster::azure
