#include "plugins/cloud/session.hpp"

#include <gtest/gtest.h>

#include <muster/testing/fake_host.hpp>

#include "tests/support/fake_transport.hpp"

namespace muster::cloud {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using Kind = http_client::Failure::Kind;
using Next = Reading::Next;

http_client::Response status(int code, std::vector<http_client::Header> headers = {}) {
  return {.status = code, .headers = std::move(headers)};
}

http_client::Failure failure(Kind kind) {
  return {.kind = kind, .message = "trouble"};
}

struct CloudSession : ::testing::Test {
  CloudSession() {
    exchange.api = "ec2 reading calls";
    exchange.name = "ec2 DescribeX";
    exchange.server = "https://ec2.example/";
    exchange.repeatable = true;
    exchange.prepare = [this](Time time) -> Result<http_client::Request> {
      times.push_back(time);
      return http_client::Request{.url = exchange.server};
    };
    exchange.read = [](const http_client::Response& response) -> Reading {
      if (response.status == 200) return {};
      const Error error = Error::transient("HTTP " + std::to_string(response.status));
      if (response.status == 429) return {Next::slow_down, error};
      if (response.status == 403) return {Next::refused, error};
      return {response.status >= 500 ? Next::repeat : Next::done, error};
    };
  }

  Session make_session(SessionSettings settings = {}) {
    return Session(transport, settings,
                   {.wait =
                        [this](milliseconds time, const Context&) {
                          waits.push_back(time);
                          context.advance(time);
                          return !context.cancelled();
                        },
                    .random = [] { return 0.0; }});
  }
  std::string run(Session& session) {
    const auto answer = session.run(exchange, context);
    return answer ? "HTTP " + std::to_string(answer->status) : answer.error().message;
  }

  std::shared_ptr<testing::FakeTransport> transport = std::make_shared<testing::FakeTransport>();
  testing::FakeContext context;
  Exchange exchange;
  std::vector<milliseconds> waits;
  std::vector<Time> times;
};

TEST_F(CloudSession, passing_trouble_is_tried_again_with_growing_delays) {
  Session session = make_session();
  transport->answers = {status(503), failure(Kind::cut_off), failure(Kind::timed_out), status(200)};
  EXPECT_EQ(run(session), "HTTP 200");
  EXPECT_EQ(waits, (std::vector<milliseconds>{200ms, 400ms, 800ms}));
}

TEST_F(CloudSession, after_all_attempts_the_last_error_is_the_answer) {
  Session session = make_session();
  transport->answers = {status(503)};
  EXPECT_EQ(run(session), "HTTP 503");
  EXPECT_EQ(transport->sent.size(), 4U);
}

TEST_F(CloudSession, what_may_have_had_an_effect_is_not_sent_twice_unless_it_may_be) {
  Session session = make_session();
  exchange.repeatable = false;
  for (const Kind kind : {Kind::cut_off, Kind::no_answer, Kind::timed_out}) {
    transport->sent.clear();
    transport->answers = {failure(kind)};
    EXPECT_NE(run(session).find("whether the call had an effect is not known"), std::string::npos);
    EXPECT_EQ(transport->sent.size(), 1U);
    EXPECT_FALSE(transport->sent[0].kept_connection);  // a dead one would send it again
  }
  transport->sent.clear();
  transport->answers = {status(500)};
  EXPECT_EQ(run(session), "HTTP 500; whether the call had an effect is not known");
  EXPECT_EQ(transport->sent.size(), 1U);
}

TEST_F(CloudSession, what_surely_had_no_effect_is_tried_again_in_any_case) {
  Session session = make_session();
  exchange.repeatable = false;
  transport->answers = {failure(Kind::no_connection), status(429), status(200)};
  EXPECT_EQ(run(session), "HTTP 200");
  EXPECT_EQ(transport->sent.size(), 3U);
}

TEST_F(CloudSession, trouble_that_does_not_pass_is_not_tried_again) {
  Session session = make_session();
  for (const Kind kind : {Kind::untrusted, Kind::bad_request, Kind::too_large, Kind::cancelled}) {
    transport->sent.clear();
    transport->answers = {failure(kind)};
    run(session);
    EXPECT_EQ(transport->sent.size(), 1U);
  }
  transport->answers = {status(400)};
  EXPECT_EQ(run(session), "HTTP 400");
}

TEST_F(CloudSession, a_wait_beyond_the_deadline_is_not_begun) {
  Session session = make_session();
  context.set_time_left(150ms);
  transport->answers = {status(503)};
  EXPECT_EQ(run(session), "HTTP 503");
  EXPECT_TRUE(waits.empty());
  EXPECT_EQ(*transport->sent[0].timeout, 130ms);
  context.set_time_left(10ms);
  EXPECT_EQ(run(session), "ec2 DescribeX was not sent: the host has no time left for it");
}

TEST_F(CloudSession, the_server_may_ask_for_a_longer_wait) {
  Session session = make_session();
  http_client::Response busy = status(503);
  busy.retry_after = 3s;
  transport->answers = {busy, status(200)};
  EXPECT_EQ(run(session), "HTTP 200");
  EXPECT_EQ(waits, std::vector<milliseconds>{3000ms});
}

TEST_F(CloudSession, a_cancelled_call_sends_nothing_and_ends_while_it_waits) {
  Session session = make_session();
  transport->answers = {status(503)};
  transport->on_send = [this](const auto&) { context.cancel(); };
  EXPECT_EQ(session.run(exchange, context).error().error_class, ErrorClass::cancelled);
  EXPECT_EQ(transport->sent.size(), 1U);
  EXPECT_EQ(session.run(exchange, context).error().error_class, ErrorClass::cancelled);
  EXPECT_EQ(transport->sent.size(), 1U);
}

TEST_F(CloudSession, all_calls_together_have_a_budget_of_retries) {
  Session session = make_session();
  transport->answers = {status(503)};
  for (int i = 0; i < 20; ++i) run(session);
  // Ten at first, and a tenth for each call.
  EXPECT_LE(transport->sent.size(), 20U + 10 + 2);
  EXPECT_GE(transport->sent.size(), 20U + 10);
}

TEST_F(CloudSession, a_wrong_clock_is_repaired_by_the_date_of_the_refusal) {
  Session session = make_session();
  const Time now = context.now();
  transport->answers = {status(403, {{"Date", "Thu, 01 Jan 2026 01:00:00 GMT"}}), status(200)};
  EXPECT_EQ(run(session), "HTTP 200");
  EXPECT_EQ(times, (std::vector<Time>{now, now + 1h}));
  EXPECT_EQ(session.clock_offset(exchange.server), 1h);
  EXPECT_EQ(run(session), "HTTP 200");
  EXPECT_EQ(times.back(), now + 1h);
  EXPECT_EQ(session.clock_offset("https://another.example/"), 0h);
}

TEST_F(CloudSession, a_refusal_at_the_right_time_drops_the_credentials_once) {
  Session session = make_session();
  int dropped = 0;
  exchange.drop_credentials = [&] { ++dropped; };
  transport->answers = {status(403, {{"Date", "Thu, 01 Jan 2026 00:00:00 GMT"}})};
  EXPECT_EQ(run(session), "HTTP 403");
  EXPECT_EQ(dropped, 1);
  EXPECT_EQ(transport->sent.size(), 2U);
}

TEST_F(CloudSession, a_throttle_answer_slows_down_the_api_and_no_other) {
  Session session = make_session();
  exchange.rate = {.per_second = 10, .burst = 10};
  transport->answers = {status(429), status(200)};
  EXPECT_EQ(run(session), "HTTP 200");
  waits.clear();
  for (int i = 0; i < 5; ++i) run(session);
  EXPECT_FALSE(waits.empty());
  waits.clear();
  exchange.api = "ec2 RunInstances";
  run(session);
  EXPECT_TRUE(waits.empty());
}

TEST_F(CloudSession, a_turn_beyond_the_deadline_is_a_throttle_error) {
  Session session = make_session();
  exchange.rate = {.per_second = 0.01, .burst = 1};
  EXPECT_EQ(run(session), "HTTP 200");
  const auto answer = session.run(exchange, context);
  EXPECT_EQ(answer.error().error_class, ErrorClass::throttle);
  EXPECT_EQ(answer.error().hold, 100s);
  EXPECT_EQ(transport->sent.size(), 1U);
}

TEST_F(CloudSession, a_request_that_cannot_be_made_is_not_sent) {
  Session session = make_session();
  exchange.prepare = [](Time) -> Result<http_client::Request> { return Error::auth("no keys"); };
  EXPECT_EQ(run(session), "no keys");
  EXPECT_TRUE(transport->sent.empty());
}

TEST(TokenBucket, a_burst_is_free_and_then_the_rate_counts) {
  const Time start{};
  TokenBucket bucket({.per_second = 10, .burst = 2}, start);
  EXPECT_EQ(bucket.take(start), 0ms);
  EXPECT_EQ(bucket.take(start), 0ms);
  EXPECT_EQ(bucket.take(start), 100ms);
  EXPECT_EQ(bucket.take(start), 200ms);
  EXPECT_EQ(bucket.take(start + 1h), 0ms);
}

TEST(TokenBucket, throttle_answers_halve_the_rate_down_to_the_least_and_it_recovers) {
  Time now{1h};
  TokenBucket bucket({.per_second = 16, .burst = 10, .least = 1, .recovery = 100}, now);
  bucket.throttle(now);
  bucket.throttle(now + 10ms);  // of the same burst
  EXPECT_NEAR(bucket.rate(), 8, 0.1);
  for (int i = 0; i < 10; ++i) bucket.throttle(now += 2s);
  EXPECT_NEAR(bucket.rate(), 1, 0.4);
  EXPECT_GT(bucket.take(now), 500ms);
  bucket.take(now += 50s);
  EXPECT_GT(bucket.rate(), 7);
  bucket.take(now += 60s);
  EXPECT_EQ(bucket.rate(), 16);
}

TEST(TokenBucket, what_the_cloud_says_is_left_bounds_the_burst_and_few_halve_the_rate) {
  const Time now = Time(std::chrono::hours(1));
  TokenBucket bucket({.per_second = 10, .burst = 100}, now);
  bucket.limit(20, now);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(bucket.take(now).count(), 0);
  EXPECT_GT(bucket.take(now).count(), 0);
  EXPECT_EQ(bucket.rate(), 10);
  bucket.limit(4, now);
  EXPECT_EQ(bucket.rate(), 5);
}

TEST(TokenBucket, a_clock_that_goes_back_costs_nothing) {
  Time now{1h};
  TokenBucket bucket({.per_second = 1, .burst = 2}, now);
  EXPECT_EQ(bucket.take(now), 0ms);
  EXPECT_EQ(bucket.take(now - 30min), 0ms);
  EXPECT_EQ(bucket.take(now - 30min), 1000ms);
}

}  // namespace
}  // namespace muster::cloud
