#include "host/registration/failed_registrations.hpp"

#include <gtest/gtest.h>

#include "lib/base/fake_clock.hpp"

namespace muster::registration {
namespace {

using namespace std::chrono_literals;

const FailureLimits small{.of_peer = {3, 1}, .of_worker = {2, 0.5}, .most_buckets = 4};

TEST(FailedRegistrations, a_peer_that_fails_too_often_waits_until_it_may_try_again) {
  const FakeClock start;
  SteadyTime now = start.steady();
  FailedRegistrations failures(small);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(failures.must_wait("192.0.2.1", now));
    failures.failed("192.0.2.1", "w" + std::to_string(i), now);
  }
  EXPECT_EQ(failures.must_wait("192.0.2.1", now), 1s);
  EXPECT_FALSE(failures.must_wait("192.0.2.2", now));
  now += 999ms;
  EXPECT_EQ(failures.must_wait("192.0.2.1", now), 1s);
  now += 2ms;
  EXPECT_FALSE(failures.must_wait("192.0.2.1", now));
}

TEST(FailedRegistrations, one_worker_that_fails_does_not_close_the_way_for_its_neighbours) {
  const FakeClock start;
  FailedRegistrations failures(small);
  failures.failed("192.0.2.1", "bad", start.steady());
  failures.failed("192.0.2.1", "bad", start.steady());
  EXPECT_EQ(failures.must_wait("192.0.2.1", "bad", start.steady()), 2s);
  EXPECT_FALSE(failures.must_wait("192.0.2.1", "good", start.steady()));
  EXPECT_FALSE(failures.must_wait("192.0.2.9", "bad", start.steady()));
  EXPECT_FALSE(failures.must_wait("192.0.2.1", start.steady()));
}

TEST(FailedRegistrations, a_storm_from_many_addresses_needs_no_more_room_than_allowed) {
  const FakeClock start;
  FailedRegistrations failures(small);
  for (int i = 0; i < 100; ++i)
    failures.failed("198.51.100." + std::to_string(i), "w", start.steady());
  EXPECT_LE(failures.size(), 4u);
}

TEST(FailedRegistrations, what_is_long_ago_is_forgotten) {
  const FakeClock start;
  FailedRegistrations failures(small);
  failures.failed("192.0.2.1", "", start.steady());
  EXPECT_EQ(failures.size(), 1u);
  EXPECT_FALSE(failures.must_wait("192.0.2.1", start.steady() + 1h));
  EXPECT_EQ(failures.size(), 0u);
}

TEST(FailedRegistrations, a_machine_is_where_its_request_comes_from_also_behind_a_proxy) {
  const auto from = [](const char* peer, std::optional<Address> client = {}) {
    http::Request request;
    request.peer = peer;
    request.client = client;
    return address_of(request);
  };
  EXPECT_EQ(from(""), "");
  EXPECT_EQ(from("192.0.2.7:4711"), "192.0.2.7");
  EXPECT_EQ(from("[2001:db8:1:2::6]:4711"), "2001:db8:1:2::6");
  EXPECT_EQ(from("192.0.2.7:4711", parse_address("203.0.113.9")), "203.0.113.9");
}

TEST(FailedRegistrations, a_machine_is_known_by_its_network) {
  EXPECT_EQ(network_of("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(network_of("2001:db8:1:2:3:4:5:6"), network_of("2001:db8:1:2::1"));
  EXPECT_NE(network_of("2001:db8:1:2::1"), network_of("2001:db8:1:3::1"));
  for (const char* none : {"", "m.example.com", "192.0.2", "[::1]", "192.0.2.7:80"})
    EXPECT_EQ(network_of(none), "") << none;
}

}  // namespace
}  // namespace muster::registration
