// How likely each launch configuration of a pool is to be launched, from how it fared.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/fleet/model/health.hpp"
#include "host/fleet/model/state.hpp"
#include "host/outcome_health/pool_outcomes.hpp"

namespace muster::bidding {

// What one launch configuration brings to the comparison with its siblings.
struct WeightInput {
  double initial_weight = 1;
  std::int64_t running = 0;  // workers that run now
  HealthCounts health;       // of the last hour
  // How long the oldest worker that did not register yet has been waited for.
  std::optional<std::chrono::milliseconds> oldest_unregistered = {};
  outcome_health::WeightFactor outcomes = {};  // by the tasks of its workers
};

struct Weight {
  double value = 1;        // 0 to 1
  std::string arithmetic;  // "1 − 10/15 running = 0.33"
};

// The least that is kept for one configuration of a pool whose weights would all be zero, and for
// one that works and has all of the pool's workers.
inline constexpr double minimal_weight = 0.01;

// One weight for each input, in order.
//
// The share by running workers, times 1 − failed/tried; zero if workers were created, none of them
// registered and there are errors; lowered from 30 minutes on, down to zero at an hour, if none
// registered and there are no errors; untouched while nothing was created; times the factor by task
// outcomes. If all would be zero,
// the healthiest keeps the minimal weight.
std::vector<Weight> weights(std::span<const WeightInput> inputs);

}  // namespace muster::bidding

namespace muster::fleet {

// Of launch configurations.
using Weights = std::vector<std::pair<Index, bidding::Weight>>;

}  // namespace muster::fleet
