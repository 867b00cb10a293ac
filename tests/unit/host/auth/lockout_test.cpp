#include "host/auth/lockout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/auth/signed_request.hpp"

namespace muster::auth {
namespace {

using namespace std::chrono_literals;

Address address(const char* text) {
  return parse_address(text).value();
}

constexpr LockoutSettings three{3, 60s, 30s};

TEST(LockoutTest, too_many_failures_in_a_window_lock_a_peer_out_for_a_time) {
  FakeClock clock;
  Lockout lockout;
  const auto peer = address("192.0.2.7"), other = address("192.0.2.8");
  EXPECT_FALSE(lockout.failed(peer, clock.steady(), three));
  EXPECT_FALSE(lockout.failed(peer, clock.steady(), three));
  EXPECT_FALSE(lockout.left(peer, clock.steady()));
  EXPECT_TRUE(lockout.failed(peer, clock.steady(), three));
  EXPECT_EQ(lockout.left(peer, clock.steady()), 30s);
  EXPECT_FALSE(lockout.left(other, clock.steady()));
  clock.advance(29'999ms);
  EXPECT_EQ(lockout.left(peer, clock.steady()), 1ms);
  clock.advance(1ms);
  EXPECT_FALSE(lockout.left(peer, clock.steady()));
}

TEST(LockoutTest, failures_far_from_each_other_are_forgiven) {
  FakeClock clock;
  Lockout lockout;
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(lockout.failed(address("192.0.2.7"), clock.steady(), three));
    clock.advance(61s);
  }
}

TEST(LockoutTest, neighbours_in_a_slash_64_are_one) {
  FakeClock clock;
  Lockout lockout;
  lockout.failed(address("2001:db8::1"), clock.steady(), three);
  lockout.failed(address("2001:db8::2"), clock.steady(), three);
  EXPECT_TRUE(lockout.failed(address("2001:db8:0:0:ffff::3"), clock.steady(), three));
  EXPECT_TRUE(lockout.left(address("2001:db8::4"), clock.steady()));
  EXPECT_FALSE(lockout.left(address("2001:db8:0:1::4"), clock.steady()));
}

TEST(LockoutTest, a_flood_of_addresses_uses_bounded_memory_and_forgets_the_oldest) {
  FakeClock clock;
  Lockout lockout(1000);
  const auto guesser = address("192.0.2.7");
  Address flood = address("10.0.0.0");
  for (int i = 0; i < 100'000; ++i) {
    flood[13] = static_cast<unsigned char>(i >> 16);
    flood[14] = static_cast<unsigned char>(i >> 8);
    flood[15] = static_cast<unsigned char>(i);
    clock.advance(1ms);
    lockout.failed(flood, clock.steady(), three);
  }
  EXPECT_LE(lockout.size(), 1100u);
  for (int i = 0; i < 3; ++i) lockout.failed(guesser, clock.steady(), three);
  EXPECT_TRUE(lockout.left(guesser, clock.steady()));
}

class LockedOutTest : public ::testing::Test {
 protected:
  LockedOutTest() {
    AuthoritySettings settings;
    settings.lockout = three;
    settings.trusted_proxies = Networks::parse({"10.0.0.1"}).value();
    authority.configure({token_client("ci", "good")}, {}, settings);
    authority.put(hawk_client("me", "my-key"));
    authority.put(hawk_client("new", "new-key"));
  }
  Signing now(std::string id = "me", std::string key = "my-key") const {
    Signing how{std::move(id), std::move(key)};
    how.ts = seconds_of(clock);
    return how;
  }
  ErrorClass class_of(const http::Request& request) const {
    return authority.authenticate(request).error().error_class;
  }
  FakeClock clock;
  Authority authority{clock};
};

TEST_F(LockedOutTest, a_guesser_is_told_to_wait_and_who_is_known_comes_in) {
  EXPECT_TRUE(authority.authenticate(signed_request(now())));
  const auto guess = signed_request(now("me", "wrong"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(class_of(guess), ErrorClass::auth);
  const auto refused = authority.authenticate(guess);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error_class, ErrorClass::throttle);
  EXPECT_EQ(refused.error().hold, 30s);
  EXPECT_EQ(class_of(with_header("Bearer wrong")), ErrorClass::throttle);
  EXPECT_EQ(class_of(signed_request(now("nobody", "x"))), ErrorClass::throttle);
  // Known from before, and by a digest; but not one that has never come in.
  EXPECT_TRUE(authority.authenticate(signed_request(now())));
  EXPECT_TRUE(authority.authenticate(with_header("Bearer good")));
  EXPECT_EQ(class_of(signed_request(now("new", "new-key"))), ErrorClass::throttle);
  auto elsewhere = signed_request(now("new", "new-key"));
  elsewhere.peer = "192.0.2.8:1";
  EXPECT_TRUE(authority.authenticate(elsewhere));
  clock.advance(30s);
  EXPECT_EQ(class_of(guess), ErrorClass::auth);
}

TEST_F(LockedOutTest, workers_behind_the_same_address_go_on) {
  const auto issued = authority.issue("worker/w", {}, clock.now(), clock.now() + 1h);
  Signing how = now(issued.client_id, issued.access_token);
  how.ext = hawk::base64("{\"certificate\":" + issued.certificate + "}");
  EXPECT_TRUE(authority.authenticate(signed_request(how)));
  for (int i = 0; i < 4; ++i) (void)authority.authenticate(with_header("Bearer wrong"));
  EXPECT_TRUE(authority.authenticate(signed_request(how)));
  how.key = "wrong";
  EXPECT_EQ(class_of(signed_request(how)), ErrorClass::throttle);
}

TEST_F(LockedOutTest, behind_a_proxy_the_one_who_sent_it_is_counted) {
  const auto from = [](const char* sender) {
    auto request = with_header("Bearer wrong");
    request.peer = "10.0.0.1:80";
    request.headers.push_back({"X-Forwarded-For", sender});
    return request;
  };
  for (int i = 0; i < 3; ++i) (void)authority.authenticate(from("203.0.113.1, 198.51.100.1"));
  EXPECT_EQ(class_of(from("198.51.100.1")), ErrorClass::throttle);
  EXPECT_EQ(class_of(from("198.51.100.2")), ErrorClass::auth);
  EXPECT_EQ(class_of(from("203.0.113.1")), ErrorClass::auth);
  // Nobody else is believed.
  auto liar = from("198.51.100.1");
  liar.peer = "192.0.2.99:1";
  EXPECT_EQ(class_of(liar), ErrorClass::auth);
}

TEST_F(LockedOutTest, a_wrong_clock_or_an_old_certificate_is_no_guess) {
  Signing late = now();
  late.ts -= 10'000;
  const auto issued = authority.issue("worker/w", {}, clock.now() - 2h, clock.now() - 1h);
  Signing old = now(issued.client_id, issued.access_token);
  old.ext = hawk::base64("{\"certificate\":" + issued.certificate + "}");
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(class_of(signed_request(late)), ErrorClass::auth);
    EXPECT_EQ(class_of(signed_request(old)), ErrorClass::auth);
    EXPECT_EQ(class_of(with_header("Hawk nonsense")), ErrorClass::auth);
  }
}

}  // namespace
}  // namespace muster::auth
