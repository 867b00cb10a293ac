#include "plugins/provider/bridge/bridge_provider.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/codec.hpp>
#include <muster/testing/fake_host.hpp>

#include "tests/support/python_service.hpp"

namespace muster::bridge {
namespace {

using testing::FakeContext;
using ::testing::HasSubstr;

// Says what it is told to say, and remembers what it was asked.
class Parrot final : public Service {
 public:
  Parrot(Result<std::string> answer, std::vector<std::string>& asked)
      : answer_(std::move(answer)), asked_(asked) {}
  Result<std::string> call(const std::string& method, const std::string& document,
                           const Context&) override {
    asked_.push_back(method + " " + document);
    return answer_;
  }

 private:
  Result<std::string> answer_;
  std::vector<std::string>& asked_;
};

struct Bridge : ::testing::Test {
  BridgeProvider saying(Result<std::string> answer) {
    return {std::make_unique<Parrot>(std::move(answer), asked), "https://x"};
  }
  template <class Reply>
  std::string mistake(const Result<Reply>& answer) {
    if (answer) return "accepted";
    EXPECT_EQ(answer.error().error_class, ErrorClass::internal);
    const std::string begin = "the service at https://x sent a wrong answer to ";
    EXPECT_EQ(answer.error().message.find(begin), 0u) << answer.error().message;
    return answer.error().message.substr(begin.size());
  }

  std::vector<std::string> asked;
  FakeContext context;
  Owner owner{"host", ProviderId("lab"), 3};
  LaunchConfig config{LaunchConfigId("lc-1"), WorkerPoolId("a/b"), {{{"region", "r"}}}, {}};
};

TEST_F(Bridge, a_wrong_shape_is_a_bug_of_the_service) {
  EXPECT_EQ(mistake(saying("{}").list({owner}, context)), "list: instances: is missing");
  EXPECT_EQ(mistake(saying(R"({"instances":[{"workerId":7}]})").list({owner}, context)),
            "list: instances[0].workerGroup: is missing");
  EXPECT_THAT(mistake(saying("<html>").notices({}, context)), HasSubstr("notices: "));
  EXPECT_THAT(mistake(saying("").terminate({owner, {}}, context)), HasSubstr("terminate: "));
}

TEST_F(Bridge, placements_name_a_region_and_no_facts_that_rules_do_not_know) {
  const auto told = [&](const char* placements) {
    return mistake(
        saying(std::string(R"({"placements":[)") + placements + "]}").placements({}, context));
  };
  EXPECT_EQ(told(R"({"facts":{}})"), "placements: placements[0].facts: there is no region");
  EXPECT_EQ(told(R"({"facts":{"region":"r"}},{"facts":{"region":"r"}})"),
            "placements: placements[1].facts: are those of placements[0], too");
  EXPECT_EQ(told(R"({"facts":{"region":"r","rack":"7"}})"),
            "placements: placements[0].facts: \"rack\" is not a fact that a bridge has; those are "
            "region and availabilityZone");
  EXPECT_EQ(told(R"({"facts":{"region":"r","availabilityZone":"z"}})"), "accepted");
}

TEST_F(Bridge, bids_keep_to_what_was_asked) {
  const BidRequest request{owner, WorkerPoolId("a/b"), 5, {{config, 1, std::int64_t{2}}}};
  const auto told = [&](const char* bid) {
    return mistake(saying(std::string(R"({"bids":[)") + bid + "]}").bid(request, context));
  };
  EXPECT_EQ(told(R"({"launchConfigId":"lc-2","capacityPerInstance":1,"instances":1,)"
                 R"("pricePerCapacityHour":1})"),
            "bid: bids[0].launchConfigId: there was no request for lc-2");
  EXPECT_EQ(told(R"({"launchConfigId":"lc-1","capacityPerInstance":1,"instances":3,)"
                 R"("pricePerCapacityHour":1})"),
            "bid: bids[0].instances: 3 is more than maxInstances, 2");
  EXPECT_EQ(told(R"({"launchConfigId":"lc-1","capacityPerInstance":0,"instances":1,)"
                 R"("pricePerCapacityHour":1})"),
            "bid: bids[0].capacityPerInstance: is below 1");
  EXPECT_EQ(told(R"({"launchConfigId":"lc-1","capacityPerInstance":1,"instances":1,)"
                 R"("pricePerCapacityHour":-1})"),
            "bid: bids[0].pricePerCapacityHour: is negative");
  EXPECT_EQ(told(R"({"launchConfigId":"lc-1","capacityPerInstance":1,"instances":2,)"
                 R"("pricePerCapacityHour":0,"reliability":0.5})"),
            "accepted");
}

TEST_F(Bridge, allocations_answer_each_key_in_order) {
  const AllocateRequest request{owner, config, {}, {IdempotencyKey("k1"), IdempotencyKey("k2")}};
  const auto told = [&](const char* launches) {
    return mistake(
        saying(std::string(R"({"launches":[)") + launches + "]}").allocate(request, context));
  };
  const std::string failed = R"("error":{"class":"capacity","message":"full"})";
  EXPECT_EQ(told(""), "allocate: launches: there are 0 for 2 keys");
  EXPECT_EQ(
      told((R"({"idempotencyKey":"k2",)" + failed + R"(},{"idempotencyKey":"k1",)" + failed + "}")
               .c_str()),
      "allocate: launches[0].idempotencyKey: is not the key at this place of the request, k1");
  EXPECT_EQ(told((R"({"idempotencyKey":"k1",)" + failed + R"(},{"idempotencyKey":"k2"})").c_str()),
            "allocate: launches[1].instance: either this or an error must be there");
  EXPECT_EQ(
      told((R"({"idempotencyKey":"k1",)" + failed + R"(},{"idempotencyKey":"k2",)" + failed + "}")
               .c_str()),
      "accepted");
}

TEST_F(Bridge, a_section_that_is_no_table_does_not_reach_the_service) {
  const ExpandRequest request{WorkerPoolId("a/b"), {{{"region", "r"}}}, {{"bridge", "text"}}};
  const auto answer = saying("{}").expand(request, context);
  EXPECT_EQ(answer.error().error_class, ErrorClass::invalid);
  EXPECT_EQ(answer.error().message, "document.bridge: is not a table");
  EXPECT_TRUE(asked.empty());
}

TEST_F(Bridge, errors_of_the_service_pass_as_they_are) {
  const Error error = Error::quota("enough").in_region("r").hold_for(std::chrono::seconds(60));
  EXPECT_EQ(saying(error).list({owner}, context).error(), error);
}

TEST_F(Bridge, keys_owner_and_protocol_are_in_the_document) {
  const AllocateRequest request{owner, config, {}, {IdempotencyKey("k1")}, {{"tag", "value"}}};
  (void)saying("{}").allocate(request, context);
  json::object expected = codec::to_value(request).as_object();
  expected["protocol"] = 1;
  ASSERT_EQ(asked.size(), 1u);
  ASSERT_EQ(asked[0].substr(0, 9), "allocate ");
  EXPECT_EQ(json::canonical(*json::parse(asked[0].substr(9))), json::canonical(expected));
}

TEST_F(Bridge, trouble_on_the_wire_is_typed_and_the_next_call_works) {
  const testing::PythonService nasty(MUSTER_SOURCE "/tests/support/nasty_service.py");
  const auto failure = [&](const std::string& behaviour, double timeout = 20) {
    json::object document{{"url", nasty.url() + "/" + behaviour}, {"timeoutSeconds", timeout}};
    const auto settings = read_settings(document);
    BridgeProvider provider(http_service_at(settings->endpoint), settings->endpoint.url);
    const auto answer = provider.list({owner}, context);
    return answer ? "accepted" : std::string(to_string(answer.error().error_class));
  };
  EXPECT_EQ(failure("silent", 0.2), "transient");
  EXPECT_EQ(failure("drip", 0.2), "transient");
  EXPECT_EQ(failure("close"), "transient");
  EXPECT_EQ(failure("cut"), "transient");
  EXPECT_EQ(failure("redirect"), "transient");
  EXPECT_EQ(failure("status/500"), "transient");
  EXPECT_EQ(failure("status/403"), "auth");
  EXPECT_EQ(failure("status/429"), "throttle");
  EXPECT_EQ(failure("garbage"), "internal");
  EXPECT_EQ(failure("deep"), "internal");
  EXPECT_EQ(failure("say/%7B%22instances%22:%5B%5D%7D"), "accepted");
}

TEST_F(Bridge, settings_refuse_what_the_schema_refuses) {
  const auto mistake_in = [](const json::object& document) {
    const auto read = read_settings(document);
    return read ? "accepted" : read.error().message;
  };
  EXPECT_EQ(mistake_in({}), "url: is missing");
  EXPECT_EQ(mistake_in({{"url", "example:"}, {"timeoutSeconds", "long"}}),
            "timeoutSeconds: expected a number, got a string");
  EXPECT_EQ(mistake_in({{"url", "other:"}}).find("url: "), 0u);
  EXPECT_TRUE(read_settings({{"url", "example:"}})->example);
  EXPECT_FALSE(read_settings({{"url", "http://localhost"}})->example);
}

}  // namespace
}  // namespace muster::bridge
