// Each fault alone, at its worst: a full pool with more to do than it may have workers for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/simulation/world.hpp"
#include "tests/simulation/random_scenario.hpp"
#include "tests/simulation/strategies.hpp"

namespace muster::simulation {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;

constexpr std::int64_t most = 10;

// Two hours of work for a pool of ten, at a provider that may have no more than that.
Scenario full_pool(Faults faults) {
  Scenario scenario;
  scenario.duration = 2h;
  scenario.wind_down = 8h;
  scenario.settings.give_up_older_after = 5min;
  scenario.faults = faults;
  ProviderScenario provider;
  provider.provider_id = ProviderId("cloud");
  provider.cloud = small_cloud(7);
  provider.settings.max_capacity = most;
  scenario.providers.push_back(provider);
  const auto pool = pool_on(scenario.providers, "type", {.min_capacity = 0, .max_capacity = most});
  scenario.configurations.push_back({0ms, configuration_of({pool})});
  for (auto at = 0min; at < 2h; at += 10min)
    scenario.arrivals.push_back({at, pool->worker_pool_id, 12, 8min});
  return scenario;
}

Report simulate(const Scenario& scenario) {
  ShippedStrategies strategies;
  return World(scenario, strategies.by_name()).run();
}

std::int64_t happened(const Report& report, const std::string& kind) {
  const auto found = report.happenings.find(kind);
  return found == report.happenings.end() ? 0 : found->second;
}

std::int64_t done(const Report& report) {
  return report.pools.at(WorkerPoolId("worker-manager/type")).done;
}

// Faults that last from the first minutes on.
Faults lying(double share) {
  return {.lying_times_per_hour = 100,
          .longest_lie = 2h,
          .smallest_lie = share,
          .largest_lie = share,
          .lies_by_region = false};
}

TEST(Scenario, without_faults_all_work_is_done_by_ten_machines) {
  const Report report = simulate(full_pool({}));
  EXPECT_THAT(report.violations, IsEmpty());
  EXPECT_GE(done(report), 100);
  EXPECT_LE(report.workers_most, most);
}

TEST(Scenario, empty_lists_make_no_machine_more_and_cost_no_work) {
  const Report report = simulate(full_pool(lying(1)));
  EXPECT_THAT(report.violations, IsEmpty());
  EXPECT_GE(happened(report, "lie"), 1);
  EXPECT_GE(happened(report, "listing-doubted"), 1);
  EXPECT_GE(done(report), 70);
}

TEST(Scenario, lists_that_lack_a_third_take_no_living_worker_for_gone) {
  const Report report = simulate(full_pool(lying(0.34)));
  EXPECT_THAT(report.violations, IsEmpty());
  EXPECT_GE(done(report), 70);
}

TEST(Scenario, lists_that_lack_a_region_are_doubted_there) {
  Faults faults = lying(1);
  faults.lies_by_region = true;
  EXPECT_THAT(simulate(full_pool(faults)).violations, IsEmpty());
}

TEST(Scenario, lists_that_invent_machines_end_nothing_of_another_host) {
  const Report report = simulate(full_pool({.listing_invents = 1}));
  EXPECT_THAT(report.violations, IsEmpty());
  EXPECT_GE(happened(report, "instance-unknown"), 1);
}

TEST(Scenario, machines_that_die_under_lists_that_lie_are_replaced_within_the_limits) {
  Faults faults = lying(1);
  faults.dies_per_hour = 1;
  faults.answer_lost = 0.2;
  faults.crash = 0.01;
  EXPECT_THAT(simulate(full_pool(faults)).violations, IsEmpty());
}

TEST(Scenario, a_store_that_takes_nothing_for_a_while_loses_nothing) {
  const Report report = simulate(full_pool({.commit_fails = 0.01, .longest_deafness = 5min}));
  EXPECT_THAT(report.violations, IsEmpty());
  EXPECT_GE(happened(report, "the store takes nothing"), 1);
}

TEST(Scenario, a_commit_that_failed_and_is_durable_all_the_same_is_not_done_twice) {
  const Report report =
      simulate(full_pool({.crash = 0.01, .commit_fails = 0.02, .commit_torn = 1}));
  EXPECT_THAT(report.violations, IsEmpty());
  EXPECT_GE(happened(report, "the store takes nothing"), 1);
}

TEST(Scenario, a_host_that_freezes_again_and_again_exceeds_no_limit) {
  const Report report = simulate(full_pool({.freezes_per_hour = 4}));
  EXPECT_THAT(report.violations, IsEmpty());
  EXPECT_GE(happened(report, "frozen"), 1);
}

TEST(Scenario, a_clock_that_jumps_in_both_directions_exceeds_no_limit) {
  EXPECT_THAT(simulate(full_pool({.clock_jumps_per_hour = 1, .largest_jump = 24h})).violations,
              IsEmpty());
}

// Workers come and go between the copy and its return: it knows dead ones, and lacks living ones.
TEST(Scenario, an_older_copy_of_the_store_costs_no_worker_that_lives) {
  Scenario scenario = full_pool({.restores_per_hour = 3});
  const auto& before = *scenario.configurations.front().configuration->pools.begin()->second;
  auto pool = std::make_shared<fleet::PoolSpec>(before);
  pool->lifecycle.idle_timeout = 1min;
  pool->lifecycle.reregistration_timeout = 20min;
  scenario.configurations.front().configuration = configuration_of({pool});
  scenario.arrivals.clear();
  scenario.duration = 6h;
  for (auto at = 0min; at < 6h; at += 25min)
    scenario.arrivals.push_back({at, pool->worker_pool_id, 12, 8min});
  const Report report = simulate(scenario);
  EXPECT_THAT(report.violations, IsEmpty());
  EXPECT_GE(happened(report, "restored"), 3);
  EXPECT_EQ(report.pools.at(pool->worker_pool_id).interrupted, 0);
  EXPECT_GE(done(report), 120);
}

// More clients than workers: every limit holds somebody back, and every release is waited for.
Scenario crowded_queue(std::int64_t max_held) {
  Scenario scenario = full_pool({});
  scenario.duration = 30min;
  scenario.wind_down = 2h;
  scenario.arrivals.clear();
  scenario.leases_per_hour = 120;
  scenario.lease_crowd = 12;
  for (const char* team : {"one", "two", "three"})
    scenario.settings.teams[queue::TeamId(team)].max_held = max_held;
  scenario.settings.teams_origin = "muster.toml";
  return scenario;
}

TEST(Scenario, a_crowd_of_clients_holds_no_more_than_their_teams_may) {
  EXPECT_THAT(simulate(crowded_queue(2)).violations, IsEmpty());
}

TEST(Scenario, a_crowd_of_clients_leaves_no_worker_idle_that_somebody_waits_for) {
  EXPECT_THAT(simulate(crowded_queue(0)).violations, IsEmpty());
}

TEST(Scenario, all_of_them_together) {
  Faults faults = lying(1);
  faults.answer_lost = faults.effect_late = 0.1;
  faults.call_fails = faults.listing_invents = 0.2;
  faults.crash = faults.commit_fails = 0.01;
  faults.commit_torn = 0.5;
  faults.clock_jumps_per_hour = faults.freezes_per_hour = 1;
  faults.dies_per_hour = 0.5;
  EXPECT_THAT(simulate(full_pool(faults)).violations, IsEmpty());
}

}  // namespace
}  // namespace muster::simulation
