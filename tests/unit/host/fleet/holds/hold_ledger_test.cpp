#include "host/fleet/holds/hold_ledger.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace muster::bidding {
namespace {

using namespace std::chrono_literals;

const ProviderId cloud("cloud");
constexpr Time start = Time(100'000h);

LaunchConfig in_zone(const std::string& zone) {
  return {.launch_config_id = LaunchConfigId("lc-" + zone),
          .worker_pool_id = WorkerPoolId("p/w"),
          .placement = {{{"region", "r"}, {"availabilityZone", zone}}},
          .document = {},
          .instance_type = "m5"};
}

const LaunchConfig here = in_zone("a"), there = in_zone("b");

std::chrono::milliseconds held_for(const Hold* hold, Time now) {
  return hold->until - now;
}

// Fails again each time the hold is over; returns how long the last hold was.
std::chrono::milliseconds after_strikes(const Error& error, int strikes) {
  HoldLedger ledger;
  Time now = start;
  std::chrono::milliseconds last{};
  for (int i = 0; i < strikes; ++i) {
    const Hold* hold = ledger.add(cloud, error, now);
    last = held_for(hold, now);
    now = hold->until;
  }
  return last;
}

TEST(HoldLedger, a_hold_time_that_makes_no_sense_is_cut) {
  HoldLedger ledger;
  const auto most = std::chrono::seconds(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(
      held_for(ledger.add(cloud, Error::quota("q").in_zone("a").hold_for(-most), start), start),
      1s);
  EXPECT_EQ(
      held_for(ledger.add(cloud, Error::quota("q").in_zone("b").hold_for(most), start), start),
      24h);
  EXPECT_EQ(held_for(ledger.add(cloud, Error::quota("q").in_zone("c").hold_for(0s), start), start),
            1s);
}

TEST(HoldLedger, only_what_is_named_is_released) {
  HoldLedger ledger;
  ledger.add(cloud, Error::capacity("full").in_zone("a"), start);
  ledger.add(cloud, Error::capacity("full").in_zone("b"), start);
  ledger.add(ProviderId("other"), Error::quota("no more"), start);
  EXPECT_TRUE(ledger.release(cloud, "zone c").empty());
  EXPECT_TRUE(ledger.release(ProviderId("none"), std::nullopt).empty());
  EXPECT_EQ(ledger.release(cloud, "zone a").size(), 1u);
  EXPECT_EQ(ledger.find(cloud, here, start), nullptr);
  EXPECT_NE(ledger.find(cloud, there, start), nullptr);
  EXPECT_EQ(ledger.release(cloud, std::nullopt).size(), 1u);
  EXPECT_EQ(ledger.all().size(), 1u);
}

TEST(HoldLedger, launches_on_their_way_when_the_first_failed_do_not_prolong_it) {
  HoldLedger ledger;
  const Time until = ledger.add(cloud, Error::capacity("full"), start)->until;
  const Hold* again = ledger.add(cloud, Error::capacity("full"), start + 1min);
  EXPECT_EQ(again->until, until);
  EXPECT_EQ(again->strikes, 1);
}

TEST(HoldLedger, each_further_failure_doubles_the_time) {
  EXPECT_EQ(after_strikes(Error::capacity("full"), 1), 3min);
  EXPECT_EQ(after_strikes(Error::capacity("full"), 2), 6min);
  EXPECT_EQ(after_strikes(Error::capacity("full"), 4), 24min);
}

TEST(HoldLedger, doubling_ends_at_an_hour_or_five_minutes) {
  EXPECT_EQ(after_strikes(Error::capacity("full"), 100), 1h);
  EXPECT_EQ(after_strikes(Error::quota("quota"), 100), 1h);
  EXPECT_EQ(after_strikes(Error::throttle("fast"), 100), 5min);
  EXPECT_EQ(after_strikes(Error::transient("reset"), 100), 5min);
  EXPECT_EQ(after_strikes(Error::internal("bug"), 100), 5min);
}

TEST(HoldLedger, the_providers_own_time_is_the_base_and_may_be_longer) {
  EXPECT_EQ(after_strikes(Error::capacity("c").hold_for(5min), 1), 5min);
  EXPECT_EQ(after_strikes(Error::capacity("c").hold_for(5min), 3), 20min);
  EXPECT_EQ(after_strikes(Error::capacity("c").hold_for(23h), 1), 23h);
  EXPECT_EQ(after_strikes(Error::throttle("t").hold_for(1h), 3), 1h);
}

TEST(HoldLedger, what_passes_sooner_does_not_end_a_hold_in_force) {
  HoldLedger ledger;
  const Time until = ledger.add(cloud, Error::quota("quota"), start)->until;
  const Hold* hold = ledger.add(cloud, Error::transient("reset"), start + 1s);
  EXPECT_EQ(hold->until, until);
  EXPECT_EQ(hold->error.error_class, ErrorClass::quota);
}

TEST(HoldLedger, what_lasts_longer_takes_the_place_of_a_hold_in_force) {
  HoldLedger ledger;
  ledger.add(cloud, Error::transient("reset"), start);
  const Hold* hold = ledger.add(cloud, Error::quota("quota"), start + 1s);
  EXPECT_EQ(hold->error.error_class, ErrorClass::quota);
  EXPECT_EQ(held_for(hold, start + 1s), 10min);
  EXPECT_EQ(hold->strikes, 1);
}

TEST(HoldLedger, an_error_of_another_class_begins_to_count_anew) {
  HoldLedger ledger;
  Time now = ledger.add(cloud, Error::capacity("full"), start)->until;
  now = ledger.add(cloud, Error::capacity("full"), now)->until;
  const Hold* hold = ledger.add(cloud, Error::quota("quota"), now);
  EXPECT_EQ(hold->strikes, 1);
  EXPECT_EQ(hold->since, now);
}

TEST(HoldLedger, of_several_holds_the_longest_is_named) {
  HoldLedger ledger;
  ledger.add(cloud, Error::quota("quota").in_region("r"), start);
  ledger.add(cloud, Error::capacity("full").in_zone("a"), start);
  EXPECT_EQ(ledger.find(cloud, here, start)->error.message, "quota");
  EXPECT_EQ(ledger.find(cloud, here, start + 5min)->error.message, "quota");
}

// -------------------------------------------------------------------------------------------------
// Canaries

TEST(HoldLedger, a_hold_in_force_is_not_probed) {
  HoldLedger ledger;
  ledger.add(cloud, Error::capacity("full"), start);
  EXPECT_EQ(ledger.probed(cloud, here, start), nullptr);
}

TEST(HoldLedger, while_one_tries_no_other_may) {
  HoldLedger ledger;
  const Time over = ledger.add(cloud, Error::capacity("full"), start)->until;
  const Hold* hold = ledger.probed(cloud, here, over);
  ASSERT_NE(hold, nullptr);
  EXPECT_EQ(ledger.find(cloud, here, over), nullptr);
  EXPECT_TRUE(ledger.begin_probe(*hold));
  EXPECT_FALSE(ledger.begin_probe(*hold));
  EXPECT_NE(ledger.find(cloud, there, over), nullptr) << "others of the scope wait, too";
  EXPECT_EQ(ledger.probed(cloud, there, over), nullptr);
}

TEST(HoldLedger, success_ends_the_holds_that_it_was_tried_under) {
  HoldLedger ledger;
  const Time over = ledger.add(cloud, Error::capacity("full").in_zone("a"), start)->until;
  ledger.add(cloud, Error::capacity("full").in_zone("b"), start);
  ledger.begin_probe(*ledger.probed(cloud, here, over));
  EXPECT_EQ(ledger.succeeded(cloud, here).size(), 1u);
  EXPECT_EQ(ledger.find(cloud, here, over), nullptr);
  EXPECT_EQ(ledger.probed(cloud, here, over), nullptr);
  EXPECT_EQ(ledger.all().size(), 1u);
}

TEST(HoldLedger, success_says_nothing_of_a_hold_in_force) {
  HoldLedger ledger;
  ledger.add(cloud, Error::capacity("full"), start);
  EXPECT_TRUE(ledger.succeeded(cloud, here).empty());
  EXPECT_NE(ledger.find(cloud, here, start), nullptr);
}

TEST(HoldLedger, failure_renews_the_hold_for_longer) {
  HoldLedger ledger;
  const Time over = ledger.add(cloud, Error::capacity("full"), start)->until;
  ledger.begin_probe(*ledger.probed(cloud, here, over));
  const Hold* hold = ledger.add(cloud, Error::capacity("full"), over + 1s);
  EXPECT_FALSE(hold->probing);
  EXPECT_EQ(hold->strikes, 2);
  EXPECT_EQ(hold->since, start);
  EXPECT_NE(ledger.find(cloud, here, over + 1s), nullptr);
}

TEST(HoldLedger, a_canary_that_says_nothing_lets_another_go) {
  HoldLedger ledger;
  const Time over = ledger.add(cloud, Error::capacity("full"), start)->until;
  ledger.begin_probe(*ledger.probed(cloud, here, over));
  ledger.probe_ended(cloud, here);
  EXPECT_NE(ledger.probed(cloud, here, over), nullptr);
  EXPECT_EQ(ledger.find(cloud, here, over), nullptr);
}

// -------------------------------------------------------------------------------------------------
// Time and storage

TEST(HoldLedger, next_end_is_the_earliest_of_those_in_force) {
  HoldLedger ledger;
  EXPECT_EQ(ledger.next_end(start), Time::max());
  ledger.add(cloud, Error::quota("q").in_zone("a"), start);
  ledger.add(cloud, Error::capacity("c").in_zone("b"), start);
  EXPECT_EQ(ledger.next_end(start), start + 3min);
  EXPECT_EQ(ledger.next_end(start + 3min), start + 10min);
  EXPECT_EQ(ledger.next_end(start + 10min), Time::max());
}

TEST(HoldLedger, what_nobody_probed_is_forgotten) {
  HoldLedger ledger;
  const Time over = ledger.add(cloud, Error::quota("q"), start)->until;
  EXPECT_TRUE(ledger.forget_before(over).empty());
  EXPECT_EQ(ledger.forget_before(over + 1ms).size(), 1u);
  EXPECT_TRUE(ledger.empty());
}

TEST(HoldLedger, a_restored_hold_goes_on_where_it_was) {
  HoldLedger before, after;
  Time now = before.add(cloud, Error::capacity("full").in_zone("a"), start)->until;
  now = before.add(cloud, Error::capacity("full").in_zone("a"), now)->until;
  before.begin_probe(*before.probed(cloud, here, now));
  for (const Hold& hold : before.all()) after.restore(hold);
  ASSERT_NE(after.probed(cloud, here, now), nullptr) << "its canary is nobody's any more";
  const Hold* hold = after.add(cloud, Error::capacity("full").in_zone("a"), now);
  EXPECT_EQ(hold->strikes, 3);
  EXPECT_EQ(held_for(hold, now), 12min);
}

TEST(HoldLedger, a_hold_of_a_clock_that_was_ahead_lasts_no_longer_than_it_was_meant) {
  HoldLedger ledger;
  ledger.add(cloud, Error::quota("q").in_zone("a"), start + 24h * 365);
  ledger.add(cloud, Error::capacity("c").in_zone("b"), start);
  const auto moved = ledger.clock_was_set(start + 1min);
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_EQ(moved[0].until, start + 11min);
  EXPECT_EQ(ledger.find(cloud, here, start + 11min), nullptr);
  EXPECT_EQ(ledger.find(cloud, there, start + 1min)->until, start + 3min) << "the other stays";
}

}  // namespace
}  // namespace muster::bidding
