#include "plugins/provider/google/wire.hpp"

#include <fstream>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <muster/testing/fake_host.hpp>

#include "lib/base/letter_case.hpp"
#include "lib/crypto/openssl_pointer.hpp"
#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/google/google_errors.hpp"
#include "plugins/provider/google/jwt.hpp"
#include "tests/support/fake_transport.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::google {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Kind = http_client::Failure::Kind;

http_client::Response answer(int status, std::string body) {
  return {.status = status, .body = std::move(body)};
}

std::string google_error(int status, const std::string& reason,
                         const std::string& message = "words") {
  return json::write(json::object{
      {"error", json::object{{"code", status},
                             {"message", message},
                             {"errors", json::array{json::object{{"reason", reason}}}}}}});
}

cloud::Timing no_waiting(testing::FakeContext& context) {
  return {.wait =
              [&context](std::chrono::milliseconds time, const Context&) {
                context.advance(time);
                return true;
              },
          .random = [] { return 0.0; }};
}

struct GoogleWire : ::testing::Test {
  GoogleWire()
      : session(transport, {}, no_waiting(context)),
        endpoints(std::map<std::string, std::string>{{"sts", "http://127.0.0.1:1/"}}),
        wire(session, endpoints, "my-project"),
        tokens([this](const Context&) -> Result<FetchedToken> {
          return FetchedToken{.value = {Secret("ya29.secret-" + std::to_string(++fetches))}};
        }) {}

  Result<json::object> call(Call made = {.method = "projects.get"}) {
    return wire.call(made, &tokens, context);
  }
  std::string trouble(Call made = {.method = "projects.get"}) {
    const auto result = call(std::move(made));
    if (result) return json::write(json::value(*result));
    return std::string(to_string(result.error().error_class)) + " " + result.error().code + ": " +
           result.error().message;
  }
  static Call insert() {
    return {.method = "instances.insert",
            .path = {{"zone", "us-central1-a"}},
            .query = {{"requestId", "u"}},
            .body = json::object{{"name", "x"}},
            .about = {.region = "us-central1",
                      .zone = "us-central1-a",
                      .instance_type = "n2",
                      .launch_config_id = "lc"}};
  }

  std::shared_ptr<testing::FakeTransport> transport = std::make_shared<testing::FakeTransport>();
  testing::FakeContext context;
  cloud::Session session;
  Endpoints endpoints;
  Wire wire;
  int fetches = 0;
  TokenCache tokens;
};

TEST_F(GoogleWire, a_call_is_google_s_path_with_a_token) {
  transport->answers = {answer(200, R"({"name": "operation-1"})")};
  EXPECT_EQ(trouble(insert()), R"({"name":"operation-1"})");
  const http_client::Request& sent = transport->sent.at(0);
  EXPECT_EQ(sent.url,
            "https://compute.googleapis.com/compute/v1/projects/my-project/zones/us-central1-a/"
            "instances?requestId=u");
  EXPECT_EQ(sent.method, "POST");
  EXPECT_EQ(*sent.body, R"({"name":"x"})");
  EXPECT_EQ(sent.headers.back().value, "Bearer ya29.secret-1");
  (void)call({.method = "certs.get"});
  EXPECT_EQ(transport->sent.back().url, "https://www.googleapis.com/oauth2/v3/certs");
  EXPECT_TRUE(transport->sent.back().headers.empty()) << "keys are public";
}

TEST_F(GoogleWire, what_google_s_description_lacks_is_not_sent) {
  EXPECT_THAT(trouble({.method = "instances.explode"}), HasSubstr("no method"));
  EXPECT_THAT(trouble({.method = "projects.get", .query = {{"filtre", "x"}}}),
              HasSubstr("no parameter \"filtre\""));
  EXPECT_THAT(trouble({.method = "instances.list"}), HasSubstr("lacks a good zone"));
  EXPECT_THAT(trouble({.method = "instances.list", .path = {{"zone", ".."}}}),
              HasSubstr("lacks a good zone"));
  EXPECT_TRUE(transport->sent.empty());
  (void)call({.method = "instances.list", .path = {{"zone", "a/../b?c"}}});
  EXPECT_THAT(transport->sent.at(0).url, HasSubstr("/zones/a%2F..%2Fb%3Fc/instances"));
}

TEST_F(GoogleWire, every_row_of_the_table_is_what_it_says) {
  const cloud::ErrorTable table = error_table();
  for (const cloud::ErrorRow& row : table.rows())
    for (const std::string& code : row.codes) {
      transport->answers = {answer(400, google_error(400, code))};
      const auto result = call(insert());
      ASSERT_FALSE(result);
      EXPECT_EQ(to_string(result.error().error_class), row.error_class) << code;
      EXPECT_EQ(result.error().code, code);
      EXPECT_EQ(result.error().scope.zone.has_value(),
                std::ranges::find(row.scope, "zone") != row.scope.end())
          << code;
    }
}

TEST_F(GoogleWire, of_several_words_the_one_that_the_table_knows_counts) {
  const char* body =
      R"({"error": {"code": 403, "message": "Required permission", "status": "PERMISSION_DENIED",
    "errors": [{"reason": "forbidden"}], "details": [{"@type": "x", "reason": "SERVICE_DISABLED"}]}})";
  transport->answers = {answer(403, body)};
  EXPECT_EQ(call().error().code, "SERVICE_DISABLED");
  transport->answers = {answer(
      403, R"({"error": {"code": 403, "message": "m", "errors": [{"reason": "brandNew"}]}})")};
  EXPECT_EQ(call().error().code, "brandNew");
  EXPECT_THAT(trouble(), HasSubstr("brandNew"));
}

TEST_F(GoogleWire, a_refused_token_is_fetched_anew_once) {
  transport->answers = {answer(401, google_error(401, "authError")), answer(200, "{}")};
  EXPECT_TRUE(call());
  EXPECT_EQ(fetches, 2);
}

TEST_F(GoogleWire, strange_answers_are_clear_sentences) {
  transport->answers = {answer(200, "<html>login</html>")};
  EXPECT_THAT(trouble(),
              HasSubstr("transient badAnswer: projects.get: https://compute.googleapis.com "
                        "answered with a web page; is there a proxy"));
  transport->answers = {answer(200, R"({"items": [{"a": )")};
  EXPECT_THAT(trouble(), HasSubstr("JSON that ends too early"));
  transport->answers = {answer(200, "")};
  EXPECT_THAT(trouble(), HasSubstr("answered with nothing"));
  transport->answers = {answer(302, "")};
  EXPECT_THAT(trouble(), HasSubstr("a redirect is not followed"));
  transport->answers = {answer(407, "")};
  EXPECT_THAT(trouble(), HasSubstr("auth badAnswer"));
  transport->answers = {http_client::Failure{.kind = Kind::untrusted}};
  EXPECT_THAT(trouble(), HasSubstr("certificate"));
  transport->answers = {http_client::Failure{.kind = Kind::too_large}};
  EXPECT_THAT(trouble(), HasSubstr("bytes"));
  transport->answers = {http_client::Failure{.kind = Kind::no_connection}};
  EXPECT_THAT(trouble(), HasSubstr("transient noAnswer"));
}

TEST_F(GoogleWire, no_error_shows_a_token) {
  transport->answers = {answer(400, google_error(400, "invalid", "you sent ya29.secret-1"))};
  EXPECT_EQ(trouble().find("ya29"), std::string::npos) << trouble();
}

TEST_F(GoogleWire, ten_megabytes_are_read_without_harm) {
  std::string items;
  for (int i = 0; i < 10'000; ++i)
    items += (i ? "," : "") + ("{\"name\": \"" + std::string(1000, 'n') + "\"}");
  transport->answers = {answer(200, "{\"items\": [" + items + "]}")};
  EXPECT_EQ(call()->at("items").as_array().size(), 10'000u);
}

// -------------------------------------------------------------------------------------------------
// Where tokens come from

struct GoogleTokens : ::testing::Test {
  GoogleTokens()
      : session(transport, {}, no_waiting(context)), metadata(near, {}, no_waiting(context)) {
    near->answers = {answer(200, R"({"access_token": "ya29.of-machine", "expires_in": 3000})")};
    transport->answers = {
        answer(200, R"({"access_token": "ya29.of-service", "expires_in": 3599})")};
  }

  std::string fetched() {
    const Endpoints endpoints(overrides);
    const auto fetch =
        token_fetch({.settings = settings,
                     .endpoints = endpoints,
                     .environment = [this](const std::string& name) -> std::optional<std::string> {
                       const auto found = environment.find(name);
                       if (found == environment.end()) return std::nullopt;
                       return found->second;
                     },
                     .session = session,
                     .metadata = metadata,
                     .redactor = redactor});
    const auto result = fetch(context);
    if (!result)
      return std::string(to_string(result.error().error_class)) + ": " + result.error().message;
    end = result->end;
    return result->value.text.reveal();
  }
  std::string write(const std::string& name, const std::string& text, mode_t mode = 0600) {
    const std::string path = (folder / name).string();
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }
  static std::string service_account() {
    static const std::string pem = [] {
      const OpensslPointer<EVP_PKEY, EVP_PKEY_free> key(EVP_RSA_gen(2048));
      const OpensslPointer<BIO, BIO_free_all> bio(BIO_new(BIO_s_mem()));
      PEM_write_bio_PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
      char* data = nullptr;
      const long size = BIO_get_mem_data(bio.get(), &data);
      return std::string(data, static_cast<std::size_t>(size));
    }();
    return json::write(json::object{{"type", "service_account"},
                                    {"client_email", "muster@p.iam.gserviceaccount.com"},
                                    {"private_key_id", "k1"},
                                    {"private_key", pem},
                                    {"token_uri", "https://oauth2.googleapis.com/token"}});
  }

  std::shared_ptr<testing::FakeTransport> transport = std::make_shared<testing::FakeTransport>();
  std::shared_ptr<testing::FakeTransport> near = std::make_shared<testing::FakeTransport>();
  testing::FakeContext context;
  cloud::Session session, metadata;
  cloud::Redactor redactor;
  ConnectionSettings settings;
  std::map<std::string, std::string> overrides, environment;
  testing::TemporaryFolder folder;
  std::optional<Time> end;
};

// google-cloud-cpp makes a token of a service account by signing it; no service is asked.
TEST_F(GoogleTokens, the_token_of_a_service_account_is_exchanged_or_signed) {
  settings.credentials.file = write("key.json", service_account());
  const std::string text = fetched();
  if (credentials_implementation() == "built-in") {
    EXPECT_EQ(text, "ya29.of-service");
    return;
  }
  const auto token = read_jwt(text);
  ASSERT_TRUE(token) << text;
  EXPECT_EQ(cloud::text_of(token->header, "kid"), "k1");
  EXPECT_EQ(cloud::text_of(token->claims, "iss"), "muster@p.iam.gserviceaccount.com");
  EXPECT_EQ(cloud::text_of(token->claims, "scope"), token_scope);
  EXPECT_TRUE(transport->sent.empty());
}

TEST_F(GoogleTokens, a_service_account_signs_an_assertion) {
  settings.credentials.file = write("key.json", service_account());
  overrides = {{"oauth2", "https://oauth2.googleapis.com"}};
  EXPECT_EQ(fetched(), "ya29.of-service");
  EXPECT_EQ(end, context.now() + 3599s);
  const std::string body = *transport->sent.at(0).body;
  EXPECT_EQ(transport->sent[0].url, "https://oauth2.googleapis.com/token");
  const auto token = read_jwt(body.substr(body.find("assertion=") + 10, body.find('&') - 10));
  ASSERT_TRUE(token) << token.error().message;
  EXPECT_EQ(cloud::text_of(token->header, "kid"), "k1");
  EXPECT_EQ(cloud::text_of(token->claims, "iss"), "muster@p.iam.gserviceaccount.com");
  EXPECT_EQ(cloud::text_of(token->claims, "aud"), "https://oauth2.googleapis.com/token");
}

TEST_F(GoogleTokens, a_file_that_others_may_read_or_that_sends_tokens_elsewhere_is_refused) {
  settings.credentials.file = write("open.json", service_account(), 0644);
  EXPECT_THAT(fetched(), HasSubstr("auth: "));
  std::string evil = service_account();
  evil.replace(evil.find("oauth2.googleapis.com"), 21, "oauth2.evil2.example");
  settings.credentials.file = write("evil.json", evil);
  EXPECT_THAT(fetched(), HasSubstr("no address of Google"));
  settings.credentials.file = write("not.json", "what");
  EXPECT_THAT(fetched(), HasSubstr("is not JSON"));
  settings.credentials.file = write("kind.json", R"({"type": "gdch_service_account"})");
  EXPECT_THAT(fetched(), HasSubstr("known are service_account"));
  settings.credentials.file = write(
      "half.json", R"({"type": "service_account", "client_email": "a@b", "private_key": "no"})");
  EXPECT_THAT(fetched(), HasSubstr("not an RSA key"));
  EXPECT_TRUE(transport->sent.empty());
}

TEST_F(GoogleTokens, the_default_chain_takes_what_is_configured_first) {
  EXPECT_EQ(fetched(), "ya29.of-machine");
  EXPECT_THAT(near->sent.at(0).url, HasSubstr("http://metadata.google.internal/computeMetadata/v1/"
                                              "instance/service-accounts/default/token"));
  EXPECT_EQ(near->sent[0].headers.at(0).value, "Google");
  environment["CLOUDSDK_CONFIG"] = folder.path().string();
  write(
      "application_default_credentials.json",
      R"({"type": "authorized_user", "client_id": "i", "client_secret": "very-secret", "refresh_token": "refresh-me"})");
  EXPECT_EQ(fetched(), "ya29.of-service");
  EXPECT_THAT(*transport->sent.back().body, HasSubstr("grant_type=refresh_token"));
  environment["GOOGLE_APPLICATION_CREDENTIALS"] = "/nowhere/key.json";
  EXPECT_THAT(fetched(), HasSubstr("/nowhere/key.json")) << "no falling through to another account";
}

TEST_F(GoogleTokens, without_any_source_the_error_says_what_to_do) {
  near->answers = {answer(404, "")};
  const std::string said = fetched();
  EXPECT_THAT(said, HasSubstr("auth: there are no Google credentials"));
  EXPECT_THAT(said, HasSubstr("configure `credentials` of the provider"));
}

TEST_F(GoogleTokens, a_workload_identity_exchanges_its_token) {
  write("subject", "subject-token-text\n");
  json::object document{
      {"type", "external_account"},
      {"audience",
       "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x"},
      {"subject_token_type", "urn:ietf:params:oauth:token-type:jwt"},
      {"token_url", "https://sts.googleapis.com/v1/token"},
      {"credential_source", json::object{{"file", (folder / "subject").string()}}}};
  settings.credentials.file = write("wif.json", json::write(document));
  EXPECT_EQ(fetched(), "ya29.of-service");
  EXPECT_EQ(transport->sent.at(0).url, "https://sts.googleapis.com/v1/token");
  EXPECT_THAT(*transport->sent[0].body, HasSubstr("\"subjectToken\":\"subject-token-text\""));
  document["credential_source"] = json::object{
      {"url", "http://127.0.0.1:9/t"},
      {"headers", json::object{{"X-Key", "v"}}},
      {"format", json::object{{"type", "json"}, {"subject_token_field_name", "id_token"}}}};
  near->answers = {answer(200, R"({"id_token": "from-url"})")};
  settings.credentials.file = write("wif.json", json::write(document));
  EXPECT_EQ(fetched(), "ya29.of-service");
  EXPECT_THAT(*transport->sent.back().body, HasSubstr("from-url"));
  document["service_account_impersonation_url"] =
      "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/"
      "m@p.iam.gserviceaccount.com:generateAccessToken";
  settings.credentials.file = write("wif.json", json::write(document));
  transport->answers = {
      answer(200, R"({"access_token": "ya29.federated", "expires_in": 3599})"),
      answer(200, R"({"accessToken": "ya29.of-account", "expireTime": "2026-01-01T01:00:00Z"})")};
  EXPECT_EQ(fetched(), "ya29.of-account");
  for (const char* source :
       {R"({"executable": {"command": "rm -rf /"}})", R"({"environment_id": "aws1"})",
        R"({"url": "http://evil.example/t"})", R"({"file": "/nowhere"})"}) {
    document["credential_source"] = json::parse(source).value();
    settings.credentials.file = write("wif.json", json::write(document));
    EXPECT_THAT(fetched(), HasSubstr("auth: ")) << source;
  }
}

TEST_F(GoogleTokens, impersonation_uses_what_the_others_give) {
  settings.credentials.metadata = true;
  settings.credentials.impersonate = Impersonation{.service_account = "m@p.iam.gserviceaccount.com",
                                                   .delegates = {"d@p.iam.gserviceaccount.com"}};
  transport->answers = {
      answer(200, R"({"accessToken": "ya29.of-account", "expireTime": "2026-01-01T01:00:00Z"})")};
  EXPECT_EQ(fetched(), "ya29.of-account");
  const http_client::Request& sent = transport->sent.at(0);
  EXPECT_THAT(
      sent.url,
      HasSubstr(
          "/v1/projects/-/serviceAccounts/m%40p.iam.gserviceaccount.com:generateAccessToken"));
  EXPECT_EQ(sent.headers.back().value, "Bearer ya29.of-machine");
  EXPECT_THAT(*sent.body, HasSubstr("projects/-/serviceAccounts/d@p.iam"));
  transport->answers = {answer(
      403,
      R"({"error": {"status": "PERMISSION_DENIED", "message": "Permission 'iam.serviceAccounts.getAccessToken' denied"}})")};
  EXPECT_THAT(fetched(), HasSubstr("getAccessToken"));
}

TEST_F(GoogleTokens, what_google_answers_badly_is_said_without_secrets) {
  settings.credentials.file = write("key.json", service_account());
  overrides = {{"oauth2", "https://oauth2.googleapis.com"}};
  transport->answers = {
      answer(400, R"({"error": "invalid_grant", "error_description": "Invalid JWT Signature."})")};
  EXPECT_THAT(fetched(), HasSubstr("invalid_grant: Invalid JWT Signature."));
  transport->answers = {answer(200, "<html>")};
  EXPECT_THAT(fetched(), HasSubstr("a web page"));
  transport->answers = {answer(200, R"({"expires_in": 1})")};
  EXPECT_THAT(fetched(), HasSubstr("no access_token"));
}

}  // namespace
}  // namespace muster::google
