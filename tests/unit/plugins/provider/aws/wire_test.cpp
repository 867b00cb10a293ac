#include "plugins/provider/aws/wire.hpp"

#include <gtest/gtest.h>

#include <muster/testing/fake_host.hpp>

#include "lib/base/letter_case.hpp"
#include "tests/support/fake_transport.hpp"

namespace muster::aws {
namespace {

using namespace std::chrono_literals;
using Kind = http_client::Failure::Kind;

const std::string session_token = "session/token+with=secret", secret_key = "very-secret-key";

http_client::Response answer(int status, std::string body) {
  return {.status = status, .body = std::move(body)};
}

std::string ec2_error(const std::string& code, const std::string& message = "words") {
  return "<Response><Errors><Error><Code>" + code + "</Code><Message>" + message +
         "</Message></Error></Errors><RequestID>r-1</RequestID></Response>";
}

const std::string regions =
    "<DescribeRegionsResponse><regionInfo><item><regionName>us-east-1</regionName></item>"
    "</regionInfo></DescribeRegionsResponse>";

struct AwsWire : ::testing::Test {
  AwsWire()
      : session(transport, {},
                {.wait =
                     [this](std::chrono::milliseconds time, const Context&) {
                       context.advance(time);
                       return true;
                     },
                 .random = [] { return 0.0; }}),
        wire(session,
             Endpoints(std::map<std::string, std::string>{{"sqs", "http://127.0.0.1:1/{region}"}})),
        credentials([this](const Context&) -> Result<FetchedCredentials> {
          ++fetches;
          return FetchedCredentials{{.access_key_id = "AKID" + std::to_string(fetches),
                                     .secret_access_key = Secret(secret_key),
                                     .session_token = Secret(session_token)}};
        }) {}

  Result<json::object> call(Call call = {"ec2", "us-east-1", "DescribeRegions"}) {
    return wire.call(call, &credentials, context);
  }
  // Class, code and message.
  std::string trouble(Call made = {"ec2", "us-east-1", "DescribeRegions"}) {
    const auto result = call(std::move(made));
    if (result) return json::write(json::value(*result));
    const Error& error = result.error();
    return std::string(to_string(error.error_class)) + " " + error.code + ": " + error.message;
  }
  std::string header(const std::string& name) {
    for (const auto& each : transport->sent.back().headers)
      if (to_lower(each.name) == to_lower(name)) return each.value;
    return {};
  }

  std::shared_ptr<testing::FakeTransport> transport = std::make_shared<testing::FakeTransport>();
  testing::FakeContext context;
  cloud::Session session;
  Wire wire;
  int fetches = 0;
  CredentialsCache credentials;
};

TEST_F(AwsWire, a_call_is_a_signed_form) {
  transport->answers = {answer(200, regions)};
  EXPECT_EQ(trouble(), R"({"Regions":[{"RegionName":"us-east-1"}]})");
  const http_client::Request& sent = transport->sent.at(0);
  EXPECT_EQ(sent.url, "https://ec2.us-east-1.amazonaws.com/");
  EXPECT_EQ(*sent.body, "Action=DescribeRegions&Version=2016-11-15");
  EXPECT_NE(header("Authorization").find("Credential=AKID1/20260101/us-east-1/ec2/aws4_request"),
            std::string::npos);
}

TEST_F(AwsWire, the_json_protocol_names_its_target) {
  transport->answers = {answer(200, "{}")};
  EXPECT_EQ(trouble({"sqs", "eu-west-1", "ReceiveMessage", {{"QueueUrl", "q"}}}),
            R"({"Messages":[]})");
  EXPECT_EQ(transport->sent.at(0).url, "http://127.0.0.1:1/eu-west-1/");
  EXPECT_EQ(header("X-Amz-Target"), "AmazonSQS.ReceiveMessage");
  EXPECT_EQ(header("Content-Type"), "application/x-amz-json-1.0");
}

TEST_F(AwsWire, what_the_model_refuses_is_not_sent) {
  EXPECT_EQ(trouble({"ec2", "us-east-1", "DescribeRegions", {{"Regoins", 1}}}),
            "invalid : ec2 DescribeRegions in us-east-1: Regoins: AWS has no such parameter");
  EXPECT_EQ(call({"ec2", "us east", "DescribeRegions"}).error().error_class, ErrorClass::invalid);
  EXPECT_EQ(call({"ec2", "evil.example/", "DescribeRegions"}).error().error_class,
            ErrorClass::invalid);
  EXPECT_EQ(call({"s3", "us-east-1", "PutObject"}).error().error_class, ErrorClass::invalid);
  EXPECT_TRUE(transport->sent.empty());
}

TEST_F(AwsWire, errors_have_awss_code_and_the_scope_of_the_table) {
  transport->answers = {answer(400, ec2_error("InsufficientInstanceCapacity"))};
  const auto result = call({.service = "ec2",
                            .region = "us-east-1",
                            .action = "RunInstances",
                            .parameters = {{"MinCount", 1}, {"MaxCount", 1}},
                            .about = {.region = {},
                                      .zone = "us-east-1a",
                                      .instance_type = "m5.large",
                                      .launch_config_id = "lc"}});
  EXPECT_EQ(result.error().error_class, ErrorClass::capacity);
  EXPECT_EQ(result.error().code, "InsufficientInstanceCapacity");
  EXPECT_EQ(result.error().scope, (ErrorScope{"us-east-1", "us-east-1a", "m5.large", {}}));
  EXPECT_NE(result.error().message.find("(request r-1)"), std::string::npos);
  EXPECT_EQ(transport->sent.size(), 1U);
}

TEST_F(AwsWire, throttling_and_trouble_of_aws_are_tried_again) {
  transport->answers = {answer(503, ec2_error("RequestLimitExceeded")),
                        answer(500, ec2_error("InternalError")), answer(502, "<html>Bad</html>"),
                        answer(200, regions)};
  EXPECT_EQ(trouble(), R"({"Regions":[{"RegionName":"us-east-1"}]})");
}

TEST_F(AwsWire, a_call_without_a_token_is_not_sent_twice) {
  transport->answers = {answer(500, ec2_error("InternalError"))};
  const std::string said = trouble({.service = "ec2",
                                    .region = "us-east-1",
                                    .action = "RunInstances",
                                    .parameters = {{"MinCount", 1}, {"MaxCount", 1}},
                                    .idempotent = false});
  EXPECT_NE(said.find("whether the call had an effect is not known"), std::string::npos) << said;
  EXPECT_EQ(transport->sent.size(), 1U);
}

TEST_F(AwsWire, expired_credentials_are_fetched_anew_and_the_call_is_repeated) {
  transport->answers = {answer(400, ec2_error("RequestExpired")), answer(200, regions)};
  EXPECT_EQ(trouble(), R"({"Regions":[{"RegionName":"us-east-1"}]})");
  EXPECT_EQ(fetches, 2);
  EXPECT_NE(header("Authorization").find("Credential=AKID2/"), std::string::npos);
  transport->answers = {answer(401, ec2_error("AuthFailure"))};
  EXPECT_EQ(call().error().error_class, ErrorClass::auth);
}

TEST_F(AwsWire, a_wrong_clock_is_repaired) {
  http_client::Response refusal = answer(400, ec2_error("RequestExpired"));
  refusal.headers = {{"Date", "Thu, 01 Jan 2026 03:00:00 GMT"}};
  transport->answers = {refusal, answer(200, regions)};
  EXPECT_EQ(trouble(), R"({"Regions":[{"RegionName":"us-east-1"}]})");
  EXPECT_EQ(header("X-Amz-Date"), "20260101T030000Z");
  EXPECT_EQ(fetches, 1);
}

TEST_F(AwsWire, no_error_shows_a_secret) {
  // As AWS answers a wrong signature: with all that was signed.
  transport->answers = {answer(
      403, ec2_error("SignatureDoesNotMatch", std::string(990, 'x') + " x-amz-security-token:" +
                                                  session_token + " key " + secret_key))};
  const std::string said = trouble();
  for (const std::string& secret : {session_token, session_token.substr(0, 12), secret_key})
    EXPECT_EQ(said.find(secret), std::string::npos) << said;
  EXPECT_EQ(said.substr(0, 26), "auth SignatureDoesNotMatch");
}

TEST_F(AwsWire, credentials_that_are_missing_are_an_error_of_the_call) {
  CredentialsCache none(
      [](const Context&) -> Result<FetchedCredentials> { return Error::auth("there are none"); });
  EXPECT_EQ(wire.call({"ec2", "us-east-1", "DescribeRegions"}, &none, context).error().message,
            "ec2 DescribeRegions in us-east-1 was not sent: there are none");
  EXPECT_TRUE(transport->sent.empty());
}

TEST_F(AwsWire, each_strange_answer_has_a_sentence) {
  const std::string begin =
      "ec2 DescribeRegions in us-east-1: https://ec2.us-east-1.amazonaws.com/ ";
  const std::string proxy =
      "; is there a proxy or a login page in between? See the provider's endpoints and proxy";
  const auto after = [&](http_client::Answer given) {
    transport->answers = {std::move(given)};
    std::string said = trouble();
    const auto at = said.find(begin);
    return at == said.npos ? said : said.replace(at, begin.size(), "");
  };
  EXPECT_EQ(after(answer(200, "<html><title>Login</title></html>")),
            "transient badAnswer: sent a web page (title: Login) instead of XML" + proxy);
  EXPECT_EQ(
      after(answer(200, "<DescribeRegionsResponse><regi")),
      "transient badAnswer: sent XML that ends in the middle or is broken after 29 of 30 bytes");
  EXPECT_EQ(after(answer(302, "")),
            "transient badAnswer: answered with HTTP status 302 and nothing; a redirect is not "
            "followed: correct the provider's endpoints");
  EXPECT_EQ(after(answer(407, "")),
            "auth badAnswer: answered with HTTP status 407 and nothing; the proxy wants a login: "
            "correct the provider's proxy");
  EXPECT_EQ(after(answer(404, "<html><title>Not here</title>")),
            "transient badAnswer: answered with HTTP status 404 and a web page (title: Not here)" +
                proxy);
  EXPECT_EQ(after(answer(503, "")),
            "transient badAnswer: answered with HTTP status 503 and nothing");
  const auto failed = [&](Kind kind) {
    return after(http_client::Failure{kind, "message", "detail"});
  };
  EXPECT_EQ(failed(Kind::no_connection),
            "transient noAnswer: cannot be reached: it takes no connections");
  EXPECT_EQ(failed(Kind::name_unknown),
            "transient noAnswer: cannot be reached: its name is not known");
  EXPECT_EQ(failed(Kind::untrusted),
            "auth noAnswer: has a certificate that is not trusted: detail");
  EXPECT_EQ(failed(Kind::too_large),
            "transient noAnswer: sent an answer of more than 16777216 bytes");
  EXPECT_EQ(failed(Kind::cut_off),
            "transient noAnswer: closed the connection in the middle of its answer");
}

TEST_F(AwsWire, trouble_of_one_region_holds_that_region) {
  transport->answers = {http_client::Failure{Kind::no_connection, "m"}};
  EXPECT_EQ(call().error().scope, (ErrorScope{"us-east-1", {}, {}, {}}));
  transport->answers = {answer(200, "<html>")};
  EXPECT_EQ(call().error().scope, (ErrorScope{"us-east-1", {}, {}, {}}));
}

TEST(AwsEndpoints, are_those_of_the_partition_or_what_the_operator_says) {
  const Endpoints endpoints(std::map<std::string, std::string>{
      {"ec2", "https://vpce.{region}.example/x"}, {"ec2/eu-west-1", "http://127.0.0.1:99"}});
  EXPECT_EQ(*endpoints.url("ec2", "us-east-1"), "https://vpce.us-east-1.example/x/");
  EXPECT_EQ(*endpoints.url("ec2", "eu-west-1"), "http://127.0.0.1:99/");
  EXPECT_EQ(*endpoints.url("sts", "cn-north-1"), "https://sts.cn-north-1.amazonaws.com.cn/");
  EXPECT_EQ(*endpoints.url("sqs", "us-gov-west-1"), "https://sqs.us-gov-west-1.amazonaws.com/");
  EXPECT_EQ(dns_suffix("us-iso-east-1"), "c2s.ic.gov");
  EXPECT_EQ(dns_suffix("us-isob-east-1"), "sc2s.sgov.gov");
  EXPECT_EQ(dns_suffix("mars-north-1"), "amazonaws.com");
  for (const char* wrong : {"", "US-EAST-1", "a.b", "-a", "x/y", "us-east-1\r\n"})
    EXPECT_FALSE(endpoints.url("ec2", wrong)) << wrong;
}

std::string mistake(const std::string& config) {
  const auto settings = read_connection(json::parse_object(config).value());
  return settings ? "nothing" : settings.error().message;
}

TEST(AwsConnection, wrong_settings_are_refused_with_what_to_do) {
  EXPECT_EQ(mistake(R"({"credentials": {"profile": "a", "static": {"file": "/x"}}})"),
            "credentials: keep one of profile, static and webIdentity");
  EXPECT_EQ(mistake(R"({"credentials": {"static": {}}})"),
            "credentials.static: needs either file, or accessKeyIdEnvironment and "
            "secretAccessKeyEnvironment; a key itself is never written into a configuration");
  EXPECT_EQ(mistake(R"({"credentials": {"static": {"accessKeyIdEnvironment": "A"}}})"),
            "credentials.static: accessKeyIdEnvironment and secretAccessKeyEnvironment belong "
            "together");
  EXPECT_EQ(mistake(R"({"credentials": {"static": {"file": "x"}}})"),
            "credentials.static.file: \"x\" is not an absolute path");
  EXPECT_EQ(mistake(R"({"credentials": {"assumeRole": {"arn": "role"}}})"),
            "credentials.assumeRole: \"role\" is no ARN of a role; they are like "
            "arn:aws:iam::123456789012:role/name");
  EXPECT_EQ(mistake(R"({"credentials": {"assumeRole": {"arn": "arn:aws:iam::1:role/x",
                                                       "sessionName": "a b"}}})"),
            "credentials.assumeRole: sessionName: must have 2 to 64 letters, digits or characters "
            "of _+=,.@-");
  EXPECT_EQ(mistake(R"({"endpoints": {"s3": "https://x"}})"),
            "endpoints.s3: \"s3\" is none of the services ec2, sts, sqs and servicequotas");
  EXPECT_EQ(mistake(R"({"endpoints": {"ec2": "http://example.com"}})"),
            "endpoints.ec2: the URL would send tokens in clear text; use https://, or set "
            "plainHttp if the network is trusted");
  EXPECT_EQ(mistake(R"({"endpoints": {"ec2": "http://example.com"}, "plainHttp": true})"),
            "nothing");
  EXPECT_EQ(mistake(R"({"proxy": "http://me:secret@proxy"})"),
            "proxy: has a password in it, which would end up in logs; let the proxy know this "
            "machine's address instead");
  EXPECT_EQ(mistake(R"({"timeoutSeconds": 0})"), "timeoutSeconds: is not between 0.1 and 600");
  EXPECT_EQ(mistake(R"({"credentials": {"profile": 1}})").substr(0, 19), "credentials.profile");
}

TEST(AwsConnection, each_key_of_the_settings_is_in_the_schema) {
  json::object config = json::parse_object(R"({"credentials": {"profile": "p",
      "assumeRole": {"arn": "arn:aws:iam::1:role/x", "externalId": "e"}},
      "endpoints": {"ec2/eu-west-1": "https://x"}, "plainHttp": false, "proxy": "", "caFile": "/x",
      "timeoutSeconds": 1, "maxAnswerBytes": 2048})")
                            .value();
  EXPECT_TRUE(read_connection(config));
  const json::object properties = connection_properties();
  for (const auto& entry : config) EXPECT_TRUE(properties.contains(entry.key())) << entry.key();
  EXPECT_EQ(properties.size(), config.size());
}

}  // namespace
}  // namespace muster::aws
