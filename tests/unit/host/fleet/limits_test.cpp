// Limits of pools, launch configurations and providers hold whatever races; what is scarce is
// shared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/fleet/allocation/throttle.hpp"
#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(Limits, of_a_pool_hold_with_launches_in_flight) {
  FleetDriver driver = simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 5});
  driver.withhold = [](const Question& question) { return asks<AskAllocation>(question); };
  driver.size = [](const SizeRequest&) { return Result<Size>(Size{100, "greedy"}); };
  driver.demand("p/w", 100);
  driver.advance(10min);
  EXPECT_EQ(driver.pool("p/w").totals.used(), 5);
  EXPECT_THAT(driver.pool("p/w").verdict.text, HasSubstr("maxCapacity 5 is reached"));
}

TEST(Limits, of_a_pool_hold_for_instances_that_are_larger_than_the_rest) {
  FleetDriver driver = simple_fleet(
      {.id = "p/w", .launch_configs = {{.id = "lc-1", .capacity = 4}}, .max_capacity = 10});
  driver.demand("p/w", 100);
  driver.advance(1h);
  EXPECT_EQ(driver.pool("p/w").totals.used(), 8);
}

TEST(Limits, of_a_launch_configuration_hold_and_others_take_the_rest) {
  FleetDriver driver =
      simple_fleet({.id = "p/w",
                    .launch_configs = {{.id = "lc-1", .max_capacity = 3}, {"lc-2"}},
                    .max_capacity = 10});
  driver.demand("p/w", 8);
  driver.advance(1min);
  EXPECT_EQ(driver.launch_config("lc-1")->totals.used(), 3);
  EXPECT_EQ(driver.launch_config("lc-2")->totals.used(), 5);
}

TEST(Limits, are_asked_again_when_bids_are_taken) {
  FleetDriver driver =
      simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 10});
  driver.withhold = [](const Question& question) { return asks<AskSelection>(question); };
  driver.demand("p/w", 10);
  const Question question = driver.take_withheld().at(0);
  driver.withhold = {};
  driver.configure({{.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 4}});
  driver.answer(question);
  driver.advance(1min);
  EXPECT_EQ(driver.pool("p/w").totals.used(), 4);
}

TEST(Limits, that_are_lowered_below_what_runs_launch_nothing_more) {
  FleetDriver driver =
      simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 10});
  driver.demand("p/w", 10);
  driver.register_all();
  driver.configure({{.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 4}});
  driver.advance(10min);
  EXPECT_EQ(driver.cloud().launched(), 10u);
}

std::vector<PoolSketch> pools(int count, std::int64_t capacity = 1) {
  std::vector<PoolSketch> sketches;
  for (int i = 0; i < count; ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    sketches.push_back(
        {.id = "p/" + name, .launch_configs = {{.id = "lc-" + name, .capacity = capacity}}});
  }
  return sketches;
}

TEST(Limits, of_a_provider_hold_while_two_pools_race_for_it) {
  FleetDriver driver;
  driver.configure(pools(2));
  driver.provider_up("cloud", {.max_capacity = 10});
  driver.withhold = [](const Question& question) { return asks<AskSelection>(question); };
  driver.demand({{"p/a", 10}, {"p/b", 10}});
  driver.withhold = {};
  for (const Question& question : driver.take_withheld()) driver.answer(question);
  driver.advance(10min);
  EXPECT_EQ(driver.fleet().providers()[0].totals.used(), 10);
  EXPECT_EQ(driver.cloud().launched(), 10u);
}

TEST(Limits, of_a_provider_are_shared_fairly_and_not_by_the_alphabet) {
  FleetDriver driver;
  driver.configure(pools(3));
  driver.provider_up("cloud", {.max_capacity = 9});
  driver.demand({{"p/a", 100}, {"p/b", 100}, {"p/c", 2}});
  driver.advance(1min);
  EXPECT_EQ(driver.pool("p/c").totals.used(), 2);
  EXPECT_GE(driver.pool("p/a").totals.used(), 3);
  EXPECT_GE(driver.pool("p/b").totals.used(), 3);
  EXPECT_EQ(driver.fleet().providers()[0].totals.used(), 9);
}

TEST(Limits, a_pool_that_has_much_waits_for_one_that_has_little) {
  FleetDriver driver;
  driver.configure(pools(2));
  driver.provider_up("cloud", {.max_capacity = 10});
  driver.demand({{"p/a", 8}, {"p/b", 0}});
  driver.register_all();
  ASSERT_EQ(driver.pool("p/a").totals.used(), 8);
  for (const std::string& id : driver.cloud().ids()) ASSERT_TRUE(driver.active(id, 1));
  driver.demand({{"p/a", 8}, {"p/b", 8}});
  driver.advance(1min);
  EXPECT_EQ(driver.pool("p/b").totals.used(), 2);
  EXPECT_EQ(driver.pool("p/a").totals.used(), 8);
}

TEST(Limits, a_want_smaller_than_an_instance_gets_a_whole_one) {
  FleetDriver driver;
  driver.configure(pools(1, 8));
  driver.provider_up("cloud", {.max_capacity = 100});
  driver.demand("p/a", 1);
  driver.advance(1min);
  EXPECT_EQ(driver.cloud().launched(), 1u);
}

TEST(Limits, two_pools_whose_fair_halves_are_no_whole_instance_do_not_wait_for_ever) {
  FleetDriver driver;
  driver.configure(pools(2, 8));
  driver.provider_up("cloud", {.max_capacity = 8});
  driver.demand({{"p/a", 8}, {"p/b", 8}});
  driver.advance(1min);
  EXPECT_EQ(driver.cloud().launched(), 1u);
}

TEST(Limits, what_halves_leave_over_is_given_out_by_whole_instances) {
  FleetDriver driver;
  driver.configure(pools(3, 4));
  driver.provider_up("cloud", {.max_capacity = 20});
  driver.demand({{"p/a", 100}, {"p/b", 100}, {"p/c", 100}});
  driver.advance(1min);
  EXPECT_EQ(driver.fleet().providers()[0].totals.used(), 20);
  for (const char* pool : {"p/a", "p/b", "p/c"}) EXPECT_GE(driver.pool(pool).totals.used(), 4);
}

TEST(Limits, of_a_provider_count_what_is_stopping_too) {
  FleetDriver driver;
  driver.configure(pools(1));
  driver.provider_up("cloud", {.max_capacity = 3});
  driver.demand("p/a", 3);
  driver.register_all();
  driver.withhold = [](const Question& question) { return asks<AskTermination>(question); };
  ASSERT_TRUE(driver.fleet().remove_worker(driver.name("cloud-1"), "test", driver.now()));
  driver.demand("p/a", 9);
  driver.advance(5min);
  EXPECT_EQ(driver.cloud().launched(), 3u);
}

// -------------------------------------------------------------------------------------------------
// Turns

TEST(Turns, no_more_launches_than_the_provider_bears) {
  FleetDriver driver;
  driver.configure({{.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 1000}});
  driver.provider_up("cloud",
                     {.launches_per_second = 2, .launch_burst = 10, .launches_per_call = 5});
  driver.demand("p/w", 100);
  EXPECT_EQ(driver.cloud().launched(), 10u);
  for (const auto& request : driver.cloud().allocate_requests)
    EXPECT_LE(request.idempotency_keys.size(), 5u);
  driver.advance(10s);
  EXPECT_NEAR(static_cast<double>(driver.cloud().launched()), 30, 2);
  driver.advance(1min);
  EXPECT_EQ(driver.cloud().launched(), 100u);
}

TEST(Turns, no_more_calls_at_once_than_the_provider_bears) {
  FleetDriver driver;
  driver.configure({{.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 1000}});
  driver.provider_up("cloud", {.launch_calls_at_once = 2, .launches_per_call = 1});
  driver.withhold = [](const Question& question) { return asks<AskAllocation>(question); };
  driver.demand("p/w", 50);
  EXPECT_EQ(driver.withheld.size(), 2u);
  driver.answer(driver.take_withheld()[0]);
  EXPECT_EQ(driver.withheld.size(), 1u);
}

TEST(Turns, a_provider_that_went_and_came_is_not_called_more_often_at_once) {
  FleetDriver driver;
  driver.configure({{.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 1000}});
  const ProviderSettings settings{.launch_calls_at_once = 2, .launches_per_call = 1};
  driver.provider_up("cloud", settings);
  driver.withhold = [](const Question& question) { return asks<AskAllocation>(question); };
  driver.demand("p/w", 2);
  const auto old = driver.take_withheld();
  ASSERT_EQ(old.size(), 2u);
  driver.provider_down();
  driver.provider_up("cloud", settings);
  for (const Question& question : old) driver.answer(question);
  driver.demand("p/w", 50);
  driver.advance(1s);
  EXPECT_EQ(driver.withheld.size(), 2u);
}

TEST(Turns, a_pool_with_a_thousand_launches_does_not_make_another_wait_for_its_one) {
  FleetDriver driver;
  auto sketches = pools(3);
  for (PoolSketch& sketch : sketches) sketch.max_capacity = 1000;
  driver.configure(sketches);
  driver.provider_up("cloud",
                     {.launches_per_second = 1, .launch_burst = 1, .launches_per_call = 1});
  driver.demand({{"p/b", 200}, {"p/c", 200}});
  driver.advance(1s);
  driver.demand({{"p/a", 1}, {"p/b", 200}, {"p/c", 200}});
  driver.advance(5s);
  EXPECT_EQ(driver.pool("p/a").totals.requested, 1);
  EXPECT_EQ(driver.launch_config("lc-a")->health.last_hour(driver.wall()).tried, 1);
}

TEST(Turns, a_provider_that_says_too_fast_is_called_less_often) {
  FleetDriver driver;
  driver.configure({{.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 1000}});
  driver.provider_up("cloud", {.launches_per_second = 20});
  driver.cloud().refuses = [](const LaunchConfig&) { return Error::throttle("slow down"); };
  driver.demand("p/w", 1);
  EXPECT_EQ(driver.fleet().throttle_of(driver.fleet().providers()[0]).rate(), 10);
}

}  // namespace
}  // namespace muster::fleet
