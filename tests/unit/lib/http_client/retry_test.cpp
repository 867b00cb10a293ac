#include "lib/http_client/retry.hpp"

#include <gtest/gtest.h>

#include "lib/http_client/client.hpp"
#include "tests/support/scripted_server.hpp"

namespace muster::http_client {
namespace {

using namespace std::chrono_literals;
using testing::ScriptedServer;
using Kind = Failure::Kind;

const Retry quick{.attempts = 3, .first_delay = 1ms, .longest_delay = 2ms};

TEST(Retries, nothing_is_sent_twice_unless_it_is_asked_for) {
  const ScriptedServer server(
      [](const std::string&) { return ScriptedServer::with_status("503 Busy", ""); });
  EXPECT_EQ(Client({}).send({.url = server.url()})->status, 503);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(Retries, what_cannot_get_better_is_sent_once) {
  const ScriptedServer server([](const std::string& request) {
    return ScriptedServer::with_status(request.substr(5, 3) + " X", "");
  });
  for (const char* status : {"200", "400", "401", "404", "500", "501"})
    EXPECT_TRUE(Client({}).send({.url = server.url() + "/" + status, .retry = quick}));
  EXPECT_EQ(server.requests().size(), 6u);
  for (const Kind kind : {Kind::bad_request, Kind::bad_tls_files, Kind::untrusted, Kind::no_tls,
                          Kind::not_http, Kind::too_large, Kind::timed_out, Kind::cancelled})
    EXPECT_FALSE(may_pass(Failure{kind}));
}

TEST(Retries, a_server_that_recovers_answers_a_later_attempt) {
  std::atomic<int> asked = 0;
  const ScriptedServer server([&](const std::string&) {
    ++asked;
    if (asked == 1) return ScriptedServer::with_status("503 Busy", "");
    return asked == 2 ? std::string() : ScriptedServer::ok("fine");
  });
  EXPECT_EQ(Client({}).send({.url = server.url(), .retry = quick})->body, "fine");
  EXPECT_EQ(asked, 3);
}

TEST(Retries, end_with_the_last_attempt_the_timeout_or_the_budget) {
  const ScriptedServer server([](const std::string& request) {
    const bool patient = request.starts_with("GET /later");
    return ScriptedServer::with_status("503 Busy", "", patient ? "Retry-After: 60\r\n" : "");
  });
  EXPECT_EQ(Client({}).send({.url = server.url(), .retry = quick})->status, 503);
  EXPECT_EQ(server.requests().size(), 3u);
  EXPECT_EQ(
      Client({}).send({.url = server.url() + "/later", .timeout = 10s, .retry = quick})->status,
      503);
  EXPECT_EQ(server.requests().size(), 4u) << "the server wants more time than there is";
  Client client({});
  const std::size_t before = server.requests().size();
  for (int i = 0; i < 30; ++i) (void)client.send({.url = server.url(), .retry = quick});
  // 30 first attempts, the budget of 10 and what 30 requests earn.
  EXPECT_LE(server.requests().size() - before, 30u + 10u + 3u);
}

TEST(Retries, a_cancelled_call_waits_for_no_further_attempt) {
  std::atomic<bool> stop = false;
  const ScriptedServer server([&](const std::string&) {
    stop = true;
    return ScriptedServer::with_status("503 Busy", "");
  });
  const Answer answer =
      Client({}).send({.url = server.url(),
                       .timeout = 60s,
                       .retry = {.attempts = 3, .first_delay = 50s, .longest_delay = 50s}},
                      stop);
  EXPECT_TRUE(!answer || answer->status == 503);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(RetryDelays, double_with_jitter_and_obey_the_server) {
  const Retry retry{.attempts = 9, .first_delay = 200ms, .longest_delay = 5s};
  const Answer busy = Response{.status = 503};
  EXPECT_EQ(retry_delay(retry, 1, busy, 0), 200ms);
  EXPECT_EQ(retry_delay(retry, 1, busy, 1), 100ms);
  EXPECT_EQ(retry_delay(retry, 3, busy, 0), 800ms);
  EXPECT_EQ(retry_delay(retry, 1000, busy, 0), 5s);
  EXPECT_EQ(retry_delay(retry, 1, Response{.status = 429, .retry_after = 7s}, 0), 7s);
}

}  // namespace
}  // namespace muster::http_client
