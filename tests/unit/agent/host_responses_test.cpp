#include "agent/host_responses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/codec.hpp>

#include "agent/host_calls.hpp"
#include "lib/base/fake_clock.hpp"
#include "tests/support/scripted_server.hpp"

namespace muster::agent {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using Kind = CallOutcome::Kind;
using muster::testing::ScriptedServer;

const Time now = Time(1'000'000'000s);

CallOutcome outcome(int status, std::string body, std::map<std::string, std::string> headers = {}) {
  return call_outcome_of(HttpAnswer{status, std::move(headers), std::move(body)}, now);
}

const std::string said_by_host = R"({"code": "X", "message": "a reason\n---\n* method: y"})";

TEST(Outcomes, only_the_host_itself_can_say_that_something_is_final) {
  for (const int status : {400, 401, 403, 404, 409, 410, 413}) {
    for (const char* body : {"", "<html>", "[]", "{}", R"({"code": 3})"})
      EXPECT_EQ(outcome(status, body).kind, Kind::try_again) << status << body;
    EXPECT_NE(outcome(status, said_by_host).kind, Kind::try_again) << status;
  }
  EXPECT_EQ(outcome(410, said_by_host).kind, Kind::gone);
  EXPECT_EQ(outcome(404, said_by_host).kind, Kind::unknown);
  EXPECT_EQ(outcome(400, said_by_host).kind, Kind::refused);
}

TEST(Outcomes, what_may_pass_is_tried_again) {
  for (const int status : {301, 302, 408, 425, 429, 500, 502, 503, 504})
    EXPECT_EQ(outcome(status, said_by_host).kind, Kind::try_again) << status;
  EXPECT_EQ(call_outcome_of(Error::transient("x"), now).kind, Kind::try_again);
  EXPECT_EQ(outcome(204, "").kind, Kind::done);
}

TEST(Outcomes, say_what_the_host_said_without_its_small_print) {
  EXPECT_EQ(outcome(400, said_by_host).why, "HTTP 400 X: a reason");
  const std::string longer = R"({"code": "X", "message": ")" + std::string(10'000, 'y') + "\"}";
  EXPECT_LT(outcome(400, longer).why.size(), 600u);
  const std::string with_print = R"({"code": "X", "message": "a reason\n\n---\n\n* method: y"})";
  EXPECT_EQ(outcome(400, with_print).why, "HTTP 400 X: a reason");
}

TEST(Outcomes, retry_after_is_a_number_or_a_date) {
  const auto after = [](const std::string& text) {
    return outcome(503, said_by_host, {{"retry-after", text}}).after;
  };
  EXPECT_EQ(after("120"), Milliseconds(120s));
  EXPECT_EQ(after("Sun, 09 Sep 2001 01:47:40 GMT"), Milliseconds(60s));
  EXPECT_EQ(after("Sun, 09 Sep 2001 01:45:40 GMT"), Milliseconds(0));
  for (const char* wrong : {"", "-1", "1.5", "soon", "99999999999"})
    EXPECT_EQ(after(wrong), std::nullopt) << wrong;
}

TEST(Grants, are_whole_or_none) {
  for (
      const char* wrong :
      {"", "[]", "{}", R"({"expires": "2026-01-01T00:00:00Z"})",
       R"({"expires": "x", "credentials": {"clientId": "a", "accessToken": "b"}, "secret": "c"})",
       R"({"expires": "2026-01-01T00:00:00Z", "credentials": {"clientId": "a"}, "secret": "c"})",
       R"({"expires": "2026-01-01T00:00:00Z", "credentials": {"clientId": "a", "accessToken": "b"}})",
       R"({"expires": "2026-01-01T00:00:00Z", "credentials": {"clientId": "a", "accessToken": "b"},
               "secret": "c", "workerConfig": []})"})
    EXPECT_FALSE(grant_of(wrong)) << wrong;
  const auto grant = grant_of(R"({"expires": "2026-01-01T00:00:00Z", "secret": "c",
      "credentials": {"clientId": "a", "accessToken": "b", "certificate": "{}"}})");
  ASSERT_TRUE(grant);
  EXPECT_FALSE(grant->worker_config);  // Taskcluster's renewal has none
  EXPECT_EQ(grant->credentials.certificate, "{}");
}

// -------------------------------------------------------------------------------------------------

struct Calls {
  explicit Calls(ScriptedServer::Answer answer) : server(std::move(answer)) {
    host.use({server.url(), "a/b", "p", "g", "w/1"}, {"client", Secret("token"), "{\"c\":1}"});
  }
  CallOutcome remove() {
    std::optional<CallOutcome> result;
    host.remove([&](const CallOutcome& outcome) { result = outcome; });
    while (!result && loop.run_once()) {
    }
    return result.value();
  }

  ScriptedServer server;
  FakeClock clock;
  EventLoop loop;
  HttpClient http{loop, ""};
  HostCalls host{http, clock, 20s};
};

std::string ts_of(const std::string& request) {
  const auto at = request.find("ts=\"") + 4;
  return request.substr(at, request.find('"', at) - at);
}

TEST(HostCalls, sign_with_the_hosts_time_once_it_is_known) {
  bool first = true;
  Calls calls([&](const std::string&) {
    return std::exchange(first, false)
               ? ScriptedServer::with_status("401 Unauthorized",
                                             R"({"code": "AuthenticationFailed"})",
                                             "Date: Sun, 09 Sep 2001 03:46:40 GMT\r\n")
               : ScriptedServer::ok("{}", "Date: Sun, 09 Sep 2001 03:46:40 GMT\r\n");
  });
  EXPECT_EQ(calls.remove().kind, Kind::wrong_clock);
  EXPECT_EQ(calls.remove().kind, Kind::done);
  const auto requests = calls.server.requests();
  EXPECT_EQ(ts_of(requests.at(0)), "1000000000");
  EXPECT_EQ(ts_of(requests.at(1)), "1000007200");
  EXPECT_EQ(calls.host.offset(), Milliseconds(2h));
}

TEST(HostCalls, the_clock_of_a_proxy_is_nobodys_business) {
  Calls calls([](const std::string&) {
    return ScriptedServer::with_status("502 Bad Gateway", "<html>",
                                       "Date: Sun, 09 Sep 2001 03:46:40 GMT\r\n");
  });
  EXPECT_EQ(calls.remove().kind, Kind::try_again);
  EXPECT_EQ(calls.host.offset(), Milliseconds(0));
}

TEST(HostCalls, a_signature_that_is_refused_at_the_right_time_is_refused) {
  Calls calls([](const std::string&) {
    return ScriptedServer::with_status("401 Unauthorized", R"({"code": "AuthenticationFailed"})",
                                       "Date: Sun, 09 Sep 2001 01:46:41 GMT\r\n");
  });
  EXPECT_EQ(calls.remove().kind, Kind::refused);
  EXPECT_EQ(calls.host.offset(), Milliseconds(0));  // a second is no difference
}

TEST(HostCalls, keep_names_in_one_segment_of_the_path_and_secrets_out_of_it) {
  Calls calls([](const std::string&) { return ScriptedServer::ok("{}"); });
  EXPECT_EQ(calls.remove().kind, Kind::done);
  const std::string request = calls.server.requests().at(0);
  EXPECT_THAT(request, HasSubstr("DELETE /api/worker-manager/v1/workers/a%2Fb/g/w%2F1 HTTP/1.1"));
  EXPECT_THAT(request, Not(HasSubstr("token")));
}

}  // namespace
}  // namespace muster::agent
