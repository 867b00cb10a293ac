#include "plugins/http_service/client.hpp"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include <muster/testing/fake_host.hpp>
#include <muster/trace.hpp>

#include "tests/support/certificate.hpp"
#include "tests/support/python_service.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::http_service {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using testing::FakeContext;
using testing::PythonService;

const std::string nasty_script = MUSTER_SOURCE "/tests/support/nasty_service.py";

// What it shows of the request.
json::object shown(const Result<Answer>& answer) {
  if (!answer) throw std::runtime_error(answer.error().message);
  const json::object size = json::parse_object(answer->body).value();
  return json::parse_object(size.at("reason").as_string()).value();
}

struct HttpClient : ::testing::Test {
  static void SetUpTestSuite() { service = std::make_unique<PythonService>(nasty_script); }
  static void TearDownTestSuite() { service.reset(); }

  static Endpoint at(const std::string& behaviour) {
    Endpoint endpoint{service->url() + "/" + behaviour};
    endpoint.timeout_seconds = 20;
    return endpoint;
  }
  Result<Answer> post(Endpoint endpoint) {
    return Client(std::move(endpoint)).post("size", R"({"a":1})", context);
  }
  Answer answered(const std::string& behaviour) {
    auto answer = post(at(behaviour));
    return answer ? std::move(*answer) : throw std::runtime_error(answer.error().message);
  }
  std::string trouble(const Result<Answer>& answer) {
    if (answer) return "HTTP " + std::to_string(answer->status);
    return std::string(to_string(answer.error().error_class)) + ": " + answer.error().message;
  }
  std::string trouble_with(const std::string& behaviour) { return trouble(post(at(behaviour))); }

  static std::unique_ptr<PythonService> service;
  FakeContext context;
};
std::unique_ptr<PythonService> HttpClient::service;

TEST_F(HttpClient, a_service_that_is_not_there_is_a_passing_trouble) {
  Endpoint nobody{"http://127.0.0.1:1"};
  nobody.timeout_seconds = 20;
  EXPECT_EQ(trouble(post(nobody)), "transient: cannot be reached: it takes no connections");
}

TEST_F(HttpClient, silence_and_a_slow_drip_end_with_the_timeout) {
  for (const char* behaviour : {"silent", "drip"}) {
    Endpoint endpoint = at(behaviour);
    endpoint.timeout_seconds = 0.2;
    EXPECT_EQ(trouble(post(endpoint)), "transient: did not answer within 0.2 s") << behaviour;
  }
}

TEST_F(HttpClient, a_host_in_a_hurry_shortens_the_timeout) {
  context.set_time_left(150ms);
  EXPECT_EQ(trouble_with("silent"),
            "transient: did not answer within the time that the host has for it");
  context.set_time_left(15ms);
  EXPECT_EQ(trouble_with("show"), "transient: was not asked: the host has no time left for it");
  Endpoint endpoint;
  endpoint.timeout_seconds = 2;
  EXPECT_EQ(time_for(endpoint, 30s), 2s);
  EXPECT_EQ(time_for(endpoint, 1s), 900ms);
  EXPECT_EQ(time_for(endpoint, 100ms), 80ms);
}

TEST_F(HttpClient, a_cancelled_call_comes_back_at_once) {
  struct Impatient final : Context {
    mutable int looks = 0;
    bool cancelled() const noexcept override { return ++looks > 3; }
    std::chrono::milliseconds time_left() const noexcept override { return 60s; }
    Time now() const noexcept override { return {}; }
    void log(LogLevel, std::string_view) const noexcept override {}
  } impatient;
  const auto begin = steady_clock::now();
  const auto answer = Client(at("silent")).post("size", "{}", impatient);
  EXPECT_EQ(trouble(answer), "cancelled: was being asked when the call was cancelled");
  EXPECT_LT(steady_clock::now() - begin, 10s);
  context.cancel();
  EXPECT_EQ(trouble_with("show"), "cancelled: was not asked: the call was cancelled");
}

TEST_F(HttpClient, answers_that_break_off_or_never_come) {
  EXPECT_EQ(trouble_with("cut"), "transient: closed the connection in the middle of its answer");
  EXPECT_EQ(trouble_with("close"), "transient: closed the connection without an answer");
}

TEST_F(HttpClient, answers_without_end_are_cut_off) {
  for (const char* behaviour : {"huge", "unbounded", "headers"})
    EXPECT_EQ(trouble_with(behaviour), "internal: sent an answer of more than 16777216 bytes")
        << behaviour;
  Endpoint small = at("say/" + std::string(1500, 'x'));
  small.max_answer_bytes = 1024;
  EXPECT_EQ(trouble(post(small)), "internal: sent an answer of more than 1024 bytes");
}

TEST_F(HttpClient, what_is_not_http_is_a_bug) {
  EXPECT_EQ(trouble_with("garbage"), "internal: sent something that is not HTTP");
}

TEST_F(HttpClient, every_status_is_an_answer_and_redirects_are_not_followed) {
  EXPECT_EQ(trouble_with("status/500"), "HTTP 500");
  EXPECT_EQ(trouble_with("status/204"), "HTTP 204");
  EXPECT_EQ(trouble_with("redirect"), "HTTP 302");
  const json::object seen = shown(post(at("show")));
  for (const json::value& hit : seen.at("hits").as_array())
    EXPECT_EQ(hit.as_string().find("elsewhere"), json::string::npos);
}

TEST_F(HttpClient, retry_after_is_read_and_bounded) {
  EXPECT_EQ(answered("status/429/x/Retry-After:%207").retry_after, 7s);
  EXPECT_EQ(answered("status/429/x/Retry-After:%2099999999999").retry_after, 1h);
  EXPECT_EQ(answered("status/429/x/Retry-After:%20soon").retry_after, std::nullopt);
  EXPECT_EQ(answered("status/429").retry_after, std::nullopt);
}

TEST_F(HttpClient, sends_document_deadline_and_no_token_unless_there_is_one) {
  const json::object seen = shown(post(at("show")));
  EXPECT_EQ(seen.at("document"), (json::value{{"a", 1}}));
  const json::object& headers = seen.at("headers").as_object();
  EXPECT_EQ(headers.at("content-type").as_string(), "application/json");
  EXPECT_EQ(headers.at("muster-deadline-ms").as_string(), "20000");
  EXPECT_FALSE(headers.contains("authorization"));
  EXPECT_FALSE(headers.contains("expect"));
}

TEST_F(HttpClient, the_token_is_read_for_each_call) {
  const testing::TemporaryFolder folder;
  Endpoint endpoint = at("show");
  endpoint.token_file = folder / "token";
  Client client(endpoint);
  EXPECT_EQ(trouble(client.post("size", "{}", context)),
            "auth: cannot be asked: the token file " + endpoint.token_file + " cannot be read");
  for (const char* token : {"first", "second\n"}) {
    std::ofstream(endpoint.token_file) << token;
    const json::object seen = shown(client.post("size", "{}", context));
    EXPECT_EQ(std::string(seen.at("headers").at("authorization").as_string()) +
                  (token[0] == 's' ? "\n" : ""),
              std::string("Bearer ") + token);
  }
}

TEST_F(HttpClient, a_token_that_would_make_a_header_is_refused_and_not_shown) {
  const testing::TemporaryFolder folder;
  Endpoint endpoint = at("show");
  endpoint.token_file = folder / "token";
  for (const char* token : {"se\r\ncret: x", "se cret", "", "\n", "secr\xc3\xa9t"}) {
    std::ofstream(endpoint.token_file) << token;
    const auto answer = post(endpoint);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().error_class, ErrorClass::auth);
    EXPECT_EQ(answer.error().message.find("cret"), std::string::npos);
  }
  endpoint.token_file.clear();
  endpoint.token_environment = "MUSTER_TEST_NO_SUCH_VARIABLE";
  EXPECT_EQ(post(endpoint).error().error_class, ErrorClass::auth);
}

TEST_F(HttpClient, the_environments_proxy_is_not_used) {
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);
  ::setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
  EXPECT_EQ(trouble_with("show"), "HTTP 200");
  ::unsetenv("http_proxy");
  ::unsetenv("ALL_PROXY");
  Endpoint through = at("show");
  through.proxy = "http://127.0.0.1:1";
  EXPECT_EQ(trouble(post(through)), "transient: cannot be reached: it takes no connections");
}

TEST_F(HttpClient, goes_on_after_any_trouble_and_over_dropped_connections) {
  Endpoint endpoint = at("once");
  Client client(endpoint);
  for (int i = 0; i < 20; ++i) {
    const auto answer = client.post("size", "{}", context);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->status, 200);
  }
}

TEST_F(HttpClient, certificates_are_checked) {
  const testing::TemporaryFolder folder;
  const std::string right = folder / "right.pem", wrong = folder / "wrong.pem",
                    key = folder / "key.pem", wrong_key = folder / "wrong_key.pem";
  testing::write_certificate(right, key, "IP:127.0.0.1");
  testing::write_certificate(wrong, wrong_key, "DNS:fleet.example");
  const PythonService tls(nasty_script, {right, key}), other(nasty_script, {wrong, wrong_key});
  Endpoint endpoint{tls.url() + "/show"};
  endpoint.timeout_seconds = 20;
  EXPECT_EQ(trouble(post(endpoint)).find("auth: has a certificate that is not trusted"), 0u)
      << trouble(post(endpoint));
  endpoint.ca_file = wrong;
  EXPECT_EQ(post(endpoint).error().error_class, ErrorClass::auth);
  endpoint.ca_file = right;
  EXPECT_EQ(trouble(post(endpoint)), "HTTP 200");
  endpoint.ca_file = folder / "missing.pem";
  EXPECT_EQ(post(endpoint).error().error_class, ErrorClass::auth);
  endpoint.url = other.url() + "/show";  // trusted, but of another name
  endpoint.ca_file = wrong;
  EXPECT_EQ(post(endpoint).error().error_class, ErrorClass::auth);
}

TEST_F(HttpClient, the_trace_of_the_call_goes_with_it) {
  const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  Client client(at("show"));
  const json::object seen = shown(client.post("size", "{}", TracedContext(context, trace)));
  EXPECT_NE(json::write(seen).find(trace), std::string::npos) << json::write(seen);
  EXPECT_EQ(json::write(shown(client.post("size", "{}", context))).find("traceparent"),
            std::string::npos);
}

}  // namespace
}  // namespace muster::http_service
