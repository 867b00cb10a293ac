// Requests after the host did not run for a while, or after its clock was set.
#include "host/auth/request_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/auth/signed_request.hpp"

namespace muster::auth {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class AfterAGap : public ::testing::Test {
 protected:
  AfterAGap() { pass(20min); }

  void pass(std::chrono::seconds time) {
    for (; time > 0s; time -= 1s) {
      clock.advance(1s);
      watch.look();
    }
  }
  // As a host issues them to a worker.
  Authority::TemporaryCredentials for_a_minute() const {
    return authority.issue("worker/w", {"a"}, clock.now() - 15min, clock.now() + 60s);
  }
  std::string answer(const Authority::TemporaryCredentials& credentials, std::int64_t ts) {
    Signing how{credentials.client_id, credentials.access_token};
    how.ts = ts;
    how.nonce = std::to_string(++nonces_);
    how.ext = hawk::base64("{\"certificate\":" + credentials.certificate + "}");
    return answer(signed_request(how));
  }
  std::string answer(const Authority::TemporaryCredentials& credentials) {
    return answer(credentials, seconds_of(clock));
  }
  std::string answer(const http::Request& request) {
    const auto caller = authority.authenticate(request);
    return caller ? "let in" : caller.error().message;
  }

  FakeClock clock;
  TimeWatch watch{clock, 10min};
  Authority authority{clock, {}, &watch};

 private:
  int nonces_ = 0;
};

TEST_F(AfterAGap, without_one_credentials_end_as_they_say) {
  const auto credentials = for_a_minute();
  pass(5min);
  EXPECT_EQ(answer(credentials), "let in") << "clocks may differ by five minutes";
  pass(2min);
  EXPECT_THAT(answer(credentials), HasSubstr("expiry"));
}

TEST_F(AfterAGap, what_had_expired_before_it_stays_expired) {
  const auto expired = for_a_minute();
  pass(7min);
  clock.set_by(1h);
  EXPECT_THAT(answer(expired), HasSubstr("expiry"));
  pass(1s);
  clock.advance(1h);
  EXPECT_THAT(answer(expired), HasSubstr("expiry"));
}

TEST_F(AfterAGap, credentials_that_were_good_before_it_are_good_for_a_bounded_time) {
  for (const bool frozen : {false, true}) {
    const auto seen = for_a_minute(), unseen = for_a_minute();
    pass(30s);
    EXPECT_EQ(answer(seen), "let in");
    frozen ? clock.advance(1h) : clock.set_by(1h);
    EXPECT_EQ(answer(seen), "let in");
    EXPECT_EQ(answer(unseen), "let in");
    pass(9min);
    EXPECT_EQ(answer(seen), "let in");
    pass(1min);
    EXPECT_THAT(answer(seen), HasSubstr("expiry"));
    EXPECT_THAT(answer(unseen), HasSubstr("expiry"));
  }
}

TEST_F(AfterAGap, a_client_whose_clock_was_not_set_is_let_in_for_that_time) {
  const auto credentials = for_a_minute();
  const std::int64_t ts = seconds_of(clock);
  clock.set_by(1h);
  EXPECT_EQ(answer(credentials, ts + 1), "let in");
  pass(10min);
  const auto renewed = for_a_minute();
  EXPECT_THAT(answer(renewed, ts + 601), HasSubstr("Stale timestamp"));
}

TEST_F(AfterAGap, credentials_of_before_the_clock_was_set_back_are_not_of_the_future) {
  const auto credentials =
      authority.issue("worker/w", {"a"}, clock.now() - 15min, clock.now() + 96h);
  clock.set_by(-1h);
  EXPECT_EQ(answer(credentials), "let in");
  pass(11min);
  EXPECT_EQ(answer(credentials), "let in") << "although they begin in half an hour";
  const auto future = authority.issue("worker/w", {"a"}, clock.now() + 2h, clock.now() + 96h);
  EXPECT_THAT(answer(future), HasSubstr("start"));
}

TEST_F(AfterAGap, a_clock_that_is_set_back_lets_no_request_in_twice) {
  Client careful = hawk_client("careful", "my-key");
  careful.replay_protection = true;
  authority.put(careful);
  Signing how{"careful"};
  how.ts = seconds_of(clock);
  const auto request = signed_request(how);
  EXPECT_EQ(answer(request), "let in");
  pass(1h);
  how.ts = seconds_of(clock);
  EXPECT_EQ(answer(signed_request(how)), "let in");
  clock.set_by(-1h);
  EXPECT_THAT(answer(request), HasSubstr("Invalid nonce"));
  how.ts = seconds_of(clock) + 1;
  EXPECT_EQ(answer(signed_request(how)), "let in") << "and locks nobody out";
}

}  // namespace
}  // namespace muster::auth
