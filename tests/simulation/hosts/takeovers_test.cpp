// Takeovers under load: nothing that was acknowledged is lost, nothing is launched or leased twice,
// no limit is exceeded, and every request is answered in the end.
#include <cstdlib>
#include <iostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/simulation/hosts/hosts_world.hpp"
#include "tests/simulation/strategies.hpp"

namespace muster::simulation {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

TakeoverReport simulate(const TakeoverScenario& scenario) {
  ShippedStrategies strategies;
  return HostsWorld(scenario, strategies.by_name()).run();
}

// Every seed has other faults; odd ones two hosts, and every third a provider that fences nothing.
TakeoverScenario scenario_of(std::uint64_t seed) {
  return {.seed = seed, .hosts = seed % 2 == 1 ? 2u : 3u, .provider_fences = seed % 3 != 0};
}

TEST(Takeovers, under_load_lose_nothing_and_double_nothing) {
  const char* const first = std::getenv("MUSTER_SEED");  // to replay one
  const std::int64_t wanted = first ? 1 : std::getenv("MUSTER_THOROUGH") ? 1000 : 60;
  TakeoverReport all;
  for (auto seed = first ? std::strtoull(first, nullptr, 10) : 1; all.takeovers < wanted; ++seed) {
    const TakeoverReport report = simulate(scenario_of(seed));
    ASSERT_THAT(report.violations, IsEmpty()) << "replay it with MUSTER_SEED=" << seed;
    all.takeovers += report.takeovers;
    for (const auto& [what, times] : report.happenings) all.happenings[what] += times;
  }
  std::cout << all.takeovers << " takeovers\n";
  for (const auto& [what, times] : all.happenings)
    std::cout << "  " << times << " " << what << "\n";
  if (first) return;
  for (const char* what :
       {"killed", "paused", "cut from the database", "handed over", "lost answers of the database",
        "slow database", "clock of a host set", "clock of the database set", "refused commits",
        "calls that outlive their host", "launches", "registrations", "leases"})
    EXPECT_GT(all.happenings[what], 0) << what;
}

// The checks themselves: what they are there for is found.
TEST(Takeovers, a_store_that_checks_no_epochs_is_found_out) {
  std::vector<std::string> found;
  for (std::uint64_t seed = 1; seed <= 10 && found.empty(); ++seed) {
    TakeoverScenario scenario = scenario_of(seed);
    scenario.checks_epochs = false;
    found = simulate(scenario).violations;
  }
  EXPECT_THAT(found, Not(IsEmpty()));
}

TEST(Takeovers, answers_before_the_commit_are_found_out) {
  std::vector<std::string> found;
  for (std::uint64_t seed = 1; seed <= 10 && found.empty(); ++seed) {
    TakeoverScenario scenario = scenario_of(seed);
    scenario.answers_when_durable = false;
    found = simulate(scenario).violations;
  }
  EXPECT_THAT(found, Not(IsEmpty()));
}

}  // namespace
}  // namespace muster::simulation
