#include "host/auth/lockout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/auth/familiar_senders.hpp"
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
  // What has come in from here before does again, and nothing else.
  EXPECT_TRUE(authority.authenticate(signed_request(now())));
  EXPECT_EQ(class_of(with_header("Bearer good")), ErrorClass::throttle);
  EXPECT_EQ(class_of(signed_request(now("new", "new-key"))), ErrorClass::throttle);
  auto elsewhere = signed_request(now("new", "new-key"));
  elsewhere.peer = "192.0.2.8:1";
  EXPECT_TRUE(authority.authenticate(elsewhere));
  clock.advance(30s);
  EXPECT_EQ(class_of(guess), ErrorClass::auth);
}

TEST_F(LockedOutTest, a_client_is_not_known_where_others_have_used_it) {
  EXPECT_TRUE(authority.authenticate(signed_request(now())));
  auto guess = signed_request(now("me", "wrong"));
  auto right = signed_request(now());
  guess.peer = right.peer = "203.0.113.5:1";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(class_of(guess), ErrorClass::auth);
  EXPECT_EQ(class_of(right), ErrorClass::throttle);
}

TEST_F(LockedOutTest, the_secret_of_a_known_client_is_not_guessed_at_without_end) {
  EXPECT_TRUE(authority.authenticate(signed_request(now())));
  EXPECT_TRUE(authority.authenticate(with_header("Bearer good")));
  const auto wrong = signed_request(now("me", "wrong"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(class_of(wrong), ErrorClass::auth);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(class_of(wrong), ErrorClass::throttle);
  EXPECT_TRUE(authority.authenticate(signed_request(now())));
  EXPECT_EQ(class_of(wrong), ErrorClass::throttle);
  // Six failures in all: not even the right key is tried now. The token is another secret.
  EXPECT_EQ(class_of(signed_request(now())), ErrorClass::throttle);
  EXPECT_TRUE(authority.authenticate(with_header("Bearer good")));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(class_of(with_header("Bearer wrong")), ErrorClass::throttle);
  EXPECT_EQ(class_of(with_header("Bearer good")), ErrorClass::throttle);
  clock.advance(30s);
  EXPECT_TRUE(authority.authenticate(signed_request(now())));
  EXPECT_TRUE(authority.authenticate(with_header("Bearer good")));
}

TEST_F(LockedOutTest, a_worker_with_new_credentials_comes_in_from_an_address_that_is_locked_out) {
  for (int i = 0; i < 4; ++i) (void)authority.authenticate(with_header("Bearer wrong"));
  const auto issued = authority.issue("worker/w", {}, clock.now(), clock.now() + 1h);
  Signing how = now(issued.client_id, issued.access_token);
  how.ext = hawk::base64("{\"certificate\":" + issued.certificate + "}");
  EXPECT_TRUE(authority.authenticate(signed_request(how)));
  how.key = "wrong";
  EXPECT_EQ(class_of(signed_request(how)), ErrorClass::throttle);
}

TEST(FamiliarSendersTest, remembers_as_many_as_it_may_and_the_latest) {
  FamiliarSenders familiar(1000);
  const auto pair = [](int i) {
    return FamiliarSenders::pair_of(address("192.0.2.7"), "client" + std::to_string(i));
  };
  for (int i = 0; i < 50'000; ++i) familiar.note(pair(i));
  EXPECT_LE(familiar.size(), 1100u);
  EXPECT_TRUE(familiar.knows(pair(49'999)));
  EXPECT_FALSE(familiar.knows(pair(1)));
  EXPECT_FALSE(familiar.knows(FamiliarSenders::pair_of(address("192.0.2.8"), "client49999")));
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
    request.client = parse_address(sender);
    return request;
  };
  for (int i = 0; i < 3; ++i) (void)authority.authenticate(from("198.51.100.1"));
  EXPECT_EQ(class_of(from("198.51.100.1")), ErrorClass::throttle);
  EXPECT_EQ(class_of(from("198.51.100.2")), ErrorClass::auth);
  // Headers are read by the connection alone.
  auto liar = from("198.51.100.3");
  liar.headers.push_back({"X-Forwarded-For", "198.51.100.1"});
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
