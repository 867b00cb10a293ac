// What not to try for a while, and how it is tried again: holds, canaries, on_probation launch
// configurations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const std::vector<PoolSketch> two_pools{
    {.id = "p/a", .launch_configs = {{.id = "lc-a", .zone = "a"}}},
    {.id = "p/b", .launch_configs = {{.id = "lc-b", .zone = "a"}, {.id = "lc-c", .zone = "b"}}}};

FleetDriver two_pools_fleet() {
  FleetDriver driver;
  driver.configure(two_pools);
  driver.provider_up();
  driver.advance(11min);
  return driver;
}

const auto zone_a_is_full = [](const LaunchConfig& config) -> std::optional<Error> {
  if (config.placement.facts.at("availabilityZone") != "a") return std::nullopt;
  return Error::capacity("zone a is full").in_zone("a");
};

// p/a asked for one and found zone a full.
FleetDriver full_zone() {
  FleetDriver driver = two_pools_fleet();
  driver.cloud().refuses = zone_a_is_full;
  driver.demand("p/a", 1);
  EXPECT_EQ(driver.fleet().holds().size(), 1u);
  return driver;
}

TEST(Holds, are_shared_by_all_pools_and_close_their_scope_only) {
  FleetDriver driver = full_zone();
  driver.cloud().bid_requests.clear();
  driver.demand({{"p/a", 1}, {"p/b", 2}});
  for (const BidRequest& request : driver.cloud().bid_requests)
    for (const auto& candidate : request.candidates)
      EXPECT_EQ(candidate.launch_config.launch_config_id.str(), "lc-c");
  EXPECT_EQ(driver.launch_config("lc-c")->totals.used(), 2);
}

// The cloud took the launch, and its operation failed after a while.
TEST(Holds, a_launch_that_fails_later_counts_as_one_that_failed_at_once) {
  FleetDriver driver = two_pools_fleet();
  driver.demand("p/b", 1);
  ASSERT_EQ(driver.cloud().launched(), 1u);
  const Instance lost = driver.cloud().instances.begin()->second;
  const std::string zone = lost.launch_config_id.str() == "lc-b" ? "a" : "b";
  driver.cloud().instances.clear();
  driver.cloud().failed_launches.emplace(
      lost.idempotency_key.str(), Error::capacity("the zone is full").in_zone(zone).hold_for(3min));
  driver.advance(15s);
  ASSERT_EQ(driver.fleet().holds().size(), 1u);
  EXPECT_EQ(driver.worker(lost.worker_id.str())->state, WorkerState::stopped);
  EXPECT_THAT(driver.worker(lost.worker_id.str())->reason, HasSubstr("the zone is full"));
  const auto health =
      driver.launch_config(lost.launch_config_id.str())->health.last_hour(driver.wall());
  EXPECT_EQ(health.errors(), 1);
  driver.demand("p/b", 1);
  EXPECT_EQ(driver.cloud().launched(), 2u) << "the other zone is tried";
  EXPECT_NE(driver.cloud().instances.begin()->second.launch_config_id, lost.launch_config_id);
  driver.advance(15s);  // the notice comes again, and changes nothing
  EXPECT_EQ(driver.cloud().launched(), 2u);
}

TEST(Holds, a_worker_that_has_registered_did_not_fail_to_launch) {
  FleetDriver driver = two_pools_fleet();
  driver.demand("p/b", 1);
  driver.register_all();
  const Instance there = driver.cloud().instances.begin()->second;
  driver.cloud().failed_launches.emplace(there.idempotency_key.str(), Error::capacity("a lie"));
  driver.advance(15s);
  EXPECT_EQ(driver.worker(there.worker_id.str())->state, WorkerState::running);
}

TEST(Holds, show_in_the_verdict_with_their_end) {
  FleetDriver driver = full_zone();
  driver.advance(1s);
  EXPECT_EQ(driver.pool("p/a").verdict.kind, verdict::Kind::blocked);
  EXPECT_THAT(driver.pool("p/a").verdict.text, HasSubstr("zone a is full"));
  EXPECT_EQ(driver.pool("p/a").verdict.obstacle->until, driver.fleet().holds()[0].until);
}

TEST(Holds, survive_a_restart) {
  FleetDriver driver = full_zone();
  const auto before = driver.fleet().holds();
  driver.crash();
  ASSERT_EQ(driver.fleet().holds().size(), 1u);
  EXPECT_EQ(driver.fleet().holds()[0].until, before[0].until);
  EXPECT_EQ(driver.fleet().holds()[0].in_words(), before[0].in_words());
  driver.start_again();
  driver.demand("p/a", 5);
  driver.advance(1min);
  EXPECT_EQ(driver.cloud().launched(), 0u);
}

TEST(Holds, of_a_document_that_names_no_scope_concern_that_document) {
  FleetDriver driver = two_pools_fleet();
  driver.cloud().refuses = [](const LaunchConfig& config) -> std::optional<Error> {
    if (config.launch_config_id.str() != "lc-a") return std::nullopt;
    return Error::config("there is no such image");
  };
  driver.demand({{"p/a", 1}, {"p/b", 1}});
  ASSERT_EQ(driver.fleet().holds().size(), 1u);
  EXPECT_EQ(driver.fleet().holds()[0].error.scope.launch_config_id, "lc-a");
  EXPECT_EQ(driver.cloud().launched(), 1u);
}

TEST(Holds, an_error_whose_scope_lies_elsewhere_holds_what_failed) {
  FleetDriver driver = two_pools_fleet();
  driver.cloud().refuses = [](const LaunchConfig&) {
    return Error::quota("of another zone").in_zone("elsewhere");
  };
  driver.demand("p/a", 3);
  driver.advance(5min);
  EXPECT_EQ(driver.cloud().allocate_requests.size(), 1u);
}

TEST(Holds, a_pool_that_is_held_does_not_ask_its_strategy_without_a_pause) {
  FleetDriver driver = full_zone();
  driver.asked_for_size = 0;
  driver.advance(2min);
  EXPECT_LE(driver.asked_for_size, 12);
}

// -------------------------------------------------------------------------------------------------
// Canaries

TEST(Canary, exactly_one_is_launched_after_a_hold_and_the_rest_when_it_succeeded) {
  FleetDriver driver = full_zone();
  driver.cloud().refuses = {};
  driver.withhold = [](const Question& question) { return asks<AskAllocation>(question); };
  driver.demand({{"p/a", 10}});
  driver.advance(3min + 1s);
  ASSERT_EQ(driver.withheld.size(), 1u);
  EXPECT_EQ(driver.pool("p/a").totals.requested, 1);
  driver.advance(20s);
  EXPECT_EQ(driver.withheld.size(), 1u) << "the others wait for it";
  EXPECT_THAT(driver.pool("p/a").verdict.text, HasSubstr("one launch tries again"));
  driver.withhold = {};
  driver.answer(driver.take_withheld()[0]);
  driver.advance(5s);
  EXPECT_EQ(driver.cloud().launched(), 10u);
  EXPECT_TRUE(driver.fleet().holds().empty());
  EXPECT_EQ(driver.rows("holds"), 0u);
}

TEST(Canary, while_it_is_on_its_way_the_pool_does_not_spin) {
  FleetDriver driver = full_zone();
  driver.cloud().refuses = {};
  driver.withhold = [](const Question& question) { return asks<AskAllocation>(question); };
  driver.demand({{"p/a", 10}, {"p/b", 0}});
  driver.advance(3min + 1s);
  ASSERT_EQ(driver.withheld.size(), 1u);
  driver.asked_for_size = 0;
  driver.advance(1min);
  EXPECT_LE(driver.asked_for_size, 10);
}

TEST(Canary, that_fails_renews_the_hold_for_twice_as_long) {
  FleetDriver driver = full_zone();
  driver.advance(3min + 1s);
  EXPECT_EQ(driver.cloud().allocate_requests.size(), 2u) << "one canary";
  ASSERT_EQ(driver.fleet().holds().size(), 1u);
  EXPECT_EQ(driver.fleet().holds()[0].strikes, 2);
  driver.advance(5min);
  EXPECT_EQ(driver.cloud().allocate_requests.size(), 2u);
  driver.advance(61s);
  EXPECT_EQ(driver.cloud().allocate_requests.size(), 3u);
}

TEST(Canary, that_fails_for_another_reason_does_not_close_its_scope_for_ever) {
  FleetDriver driver = full_zone();
  driver.cloud().refuses = [](const LaunchConfig&) { return Error::quota("quota").in_region("r"); };
  driver.advance(3min + 1s);
  ASSERT_EQ(driver.fleet().holds().size(), 2u);
  driver.cloud().refuses = {};
  driver.advance(30min);
  EXPECT_GE(driver.cloud().launched(), 1u);
}

TEST(Canary, whose_answer_is_lost_decides_when_it_is_found) {
  FleetDriver driver = full_zone();
  driver.cloud().refuses = {};
  driver.cloud().allocation_lost = Error::transient("reset");
  driver.demand("p/a", 3);
  driver.advance(3min + 1s);
  driver.cloud().allocation_lost.reset();
  driver.advance(2min);
  EXPECT_EQ(driver.cloud().launched(), 3u);
  driver.advance(10min);
  EXPECT_TRUE(driver.fleet().holds().empty());
}

TEST(Canary, that_is_removed_lets_another_go) {
  FleetDriver driver = full_zone();
  driver.cloud().refuses = {};
  driver.withhold = [](const Question& question) { return asks<AskAllocation>(question); };
  driver.advance(3min + 1s);
  ASSERT_EQ(driver.withheld.size(), 1u);
  const Question canary = driver.take_withheld()[0];
  driver.withhold = {};
  driver.configure({two_pools[1]});  // its pool is gone
  driver.answer(canary);
  driver.demand("p/b", 5);
  driver.advance(5min);
  EXPECT_GE(driver.pool("p/b").totals.used(), 5);
  driver.demand("p/b", 50);
  driver.advance(1min);
  EXPECT_GE(driver.launch_config("lc-b")->totals.used(), 1);
}

// -------------------------------------------------------------------------------------------------
// Weights at work

TEST(Doubt, a_launch_configuration_that_only_fails_is_not_launched_from_while_another_works) {
  FleetDriver driver =
      simple_fleet({.id = "p/w", .launch_configs = {{.id = "lc-1"}, {.id = "lc-2", .zone = "b"}}});
  driver.cloud().refuses = [](const LaunchConfig& config) -> std::optional<Error> {
    if (config.launch_config_id.str() != "lc-1") return std::nullopt;
    return Error::capacity("none").of_launch_config("lc-1").hold_for(1s);
  };
  driver.demand("p/w", 2);
  driver.advance(20min);
  EXPECT_EQ(driver.launch_config("lc-2")->totals.used(), 2);
  EXPECT_TRUE(driver.launch_config("lc-1")->on_probation);
  const auto tried = driver.launch_config("lc-1")->health.last_hour(driver.wall()).tried;
  driver.demand("p/w", 10);
  driver.advance(10min);
  EXPECT_EQ(driver.launch_config("lc-1")->health.last_hour(driver.wall()).tried, tried);
}

TEST(Doubt, ends_after_the_hour_with_one_canary_that_registers) {
  FleetDriver driver = simple_fleet(
      {.id = "p/w",
       .launch_configs = {{.id = "lc-1"}, {.id = "lc-2", .zone = "b", .max_capacity = 1}},
       .lifecycle = {.registration_timeout = 24h}});
  bool broken = true;
  driver.cloud().refuses = [&](const LaunchConfig& config) -> std::optional<Error> {
    if (!broken || config.launch_config_id.str() != "lc-1") return std::nullopt;
    return Error::capacity("none").of_launch_config("lc-1").hold_for(1s);
  };
  driver.demand("p/w", 3);
  driver.advance(10min);
  ASSERT_TRUE(driver.launch_config("lc-1")->on_probation);
  broken = false;
  driver.advance(62min);
  EXPECT_EQ(driver.launch_config("lc-1")->totals.requested, 1) << "one tries";
  driver.register_all();
  driver.advance(1min);
  EXPECT_FALSE(driver.launch_config("lc-1")->on_probation);
  EXPECT_GE(driver.launch_config("lc-1")->totals.used(), 2) << "and then the rest";
}

TEST(Doubt, a_healthy_launch_configuration_that_has_all_workers_is_not_doubted) {
  FleetDriver driver =
      simple_fleet({.id = "p/w", .launch_configs = {{.id = "lc-1"}, {.id = "lc-2", .zone = "b"}}});
  driver.demand("p/w", 4);
  driver.register_all();
  ASSERT_EQ(driver.launch_config("lc-1")->totals.running, driver.pool("p/w").totals.running);
  ASSERT_TRUE(driver.fleet().pause(WorkerPoolId("p/w"), LaunchConfigId("lc-2"), driver.wall() + 1h,
                                   "", driver.now()));
  for (const std::string& id : driver.cloud().ids()) ASSERT_TRUE(driver.active(id, 1));
  driver.demand("p/w", 8);
  driver.advance(1min);
  EXPECT_FALSE(driver.launch_config("lc-1")->on_probation);
  EXPECT_GE(driver.launch_config("lc-1")->totals.used(), 12);
}

TEST(Doubt, while_siblings_are_held_the_one_with_all_workers_is_launched_from) {
  FleetDriver driver =
      simple_fleet({.id = "p/w", .launch_configs = {{.id = "lc-1"}, {.id = "lc-2", .zone = "b"}}});
  driver.demand("p/w", 4);
  driver.register_all();
  for (const std::string& id : driver.cloud().ids()) ASSERT_TRUE(driver.active(id, 1));
  driver.cloud().spoil_bids = [](Bids& bids) {
    std::erase_if(bids.bids, [](const Bid& bid) { return bid.launch_config_id.str() == "lc-2"; });
  };
  driver.demand("p/w", 9);
  driver.advance(1min);
  EXPECT_EQ(driver.cloud().launched(), 13u);
}

TEST(Doubt, weights_are_shown_as_the_next_bidding_would_see_them) {
  FleetDriver driver = simple_fleet(
      {.id = "p/w",
       .launch_configs = {{.id = "lc-1", .max_capacity = 10}, {.id = "lc-2", .zone = "b"}}});
  driver.demand("p/w", 15);
  driver.register_all();
  const auto weights = driver.fleet().weights_of(driver.pool("p/w"), driver.wall());
  ASSERT_EQ(weights.size(), 2u);
  EXPECT_EQ(weights[0].second.arithmetic, "(1 − 10/15 running) = 0.33");
  EXPECT_EQ(weights[1].second.arithmetic, "(1 − 5/15 running) = 0.67");
}

}  // namespace
}  // namespace muster::fleet
