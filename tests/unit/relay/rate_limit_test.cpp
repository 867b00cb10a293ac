#include "relay/rate_limit.hpp"

#include <gtest/gtest.h>

#include "lib/base/fake_clock.hpp"
#include "relay/verdict_cache.hpp"

namespace muster::relay {
namespace {

using namespace std::chrono_literals;

Address address(unsigned number) {
  Address made{};
  made[14] = static_cast<unsigned char>(number >> 8);
  made[15] = static_cast<unsigned char>(number);
  return made;
}

TEST(RateLimit, lets_a_burst_pass_and_then_an_even_rate) {
  RateLimit limit;
  FakeClock clock;
  const RateSettings settings{.per_minute = 6, .burst = 3};
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(limit.charge(address(1), settings, clock.steady()).count(), 0);
  EXPECT_EQ(limit.charge(address(1), settings, clock.steady()), 10s);
  EXPECT_EQ(limit.charge(address(2), settings, clock.steady()).count(), 0);  // another one
  clock.advance(9s);
  EXPECT_EQ(limit.charge(address(1), settings, clock.steady()), 1s);  // asking costs nothing
  clock.advance(1s);
  EXPECT_EQ(limit.charge(address(1), settings, clock.steady()).count(), 0);
  EXPECT_EQ(limit.charge(address(1), settings, clock.steady()), 10s);
  clock.advance(1h);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(limit.charge(address(1), settings, clock.steady()).count(), 0);
  EXPECT_GT(limit.charge(address(1), settings, clock.steady()).count(), 0);
}

TEST(RateLimit, remembers_no_more_than_it_may_and_the_worst_longest) {
  RateLimit limit(64);
  FakeClock clock;
  const RateSettings settings{.per_minute = 1, .burst = 5};
  for (int i = 0; i < 5; ++i) limit.charge(address(0), settings, clock.steady());
  for (unsigned i = 1; i < 1000; ++i) {
    EXPECT_EQ(limit.charge(address(i), settings, clock.steady()).count(), 0);
    clock.advance(1ms);
  }
  EXPECT_LE(limit.known(), 64u);
  EXPECT_GT(limit.charge(address(0), settings, clock.steady()).count(), 0);
}

std::shared_ptr<const Verdict> verdict(Finding finding, std::uint32_t ttl) {
  auto made = std::make_shared<Verdict>();
  made->finding = finding;
  made->ttl = ttl;
  return made;
}

TEST(VerdictCache, keeps_within_bounds_and_failures_not_at_all) {
  const CacheSettings settings{.entries = 2, .min_ttl = 5s, .max_ttl = 60s, .negative_ttl = 20s};
  const auto kept = [&](Finding finding, std::uint32_t ttl) {
    return kept_for(*verdict(finding, ttl), settings);
  };
  EXPECT_EQ(kept(Finding::accepted, 0), 5s);
  EXPECT_EQ(kept(Finding::accepted, 30), 30s);
  EXPECT_EQ(kept(Finding::accepted, 0x7fffffff), 60s);
  EXPECT_EQ(kept(Finding::no_reverse_name, 0), 5s);
  EXPECT_EQ(kept(Finding::name_not_allowed, 10), 10s);
  EXPECT_EQ(kept(Finding::name_not_confirmed, 3600), 20s);
  EXPECT_EQ(kept(Finding::dns_failed, 3600), 0s);
  CacheSettings none = settings;
  none.negative_ttl = 1s;
  EXPECT_EQ(kept_for(*verdict(Finding::no_reverse_name, 0), none), 1s);
}

TEST(VerdictCache, forgets_in_time_and_what_was_used_longest_ago) {
  FakeClock clock;
  VerdictCache cache({.entries = 2, .min_ttl = 5s, .max_ttl = 60s, .negative_ttl = 20s});
  cache.put(address(1), verdict(Finding::accepted, 30), clock.steady());
  cache.put(address(2), verdict(Finding::accepted, 60), clock.steady());
  EXPECT_TRUE(cache.find(address(1), clock.steady()));
  cache.put(address(3), verdict(Finding::accepted, 60), clock.steady());  // 2 has to go
  EXPECT_FALSE(cache.find(address(2), clock.steady()));
  EXPECT_TRUE(cache.find(address(1), clock.steady()));
  clock.advance(29'999ms);
  EXPECT_TRUE(cache.find(address(1), clock.steady()));
  clock.advance(1ms);
  EXPECT_FALSE(cache.find(address(1), clock.steady()));
  EXPECT_EQ(cache.size(), 1u);
  cache.put(address(3), verdict(Finding::dns_failed, 60), clock.steady());
  EXPECT_EQ(cache.size(), 0u);
  cache.put(address(4), verdict(Finding::accepted, 60), clock.steady());
  cache.clear();
  EXPECT_FALSE(cache.find(address(4), clock.steady()));
}

}  // namespace
}  // namespace muster::relay
