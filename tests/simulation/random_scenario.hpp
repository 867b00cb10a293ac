// A scenario out of a number: clouds, pools, limits, work, changes of the configuration, and
// faults.
#pragma once

#include "host/simulation/scenario.hpp"

namespace muster::simulation {

Scenario random_scenario(std::uint64_t seed);

// Pieces of it, for scenarios that are told in full.
simulated::Settings small_cloud(std::uint64_t seed);
// One launch configuration for each placement and instance type of the cloud.
std::shared_ptr<const fleet::PoolSpec> pool_on(const std::vector<ProviderScenario>& providers,
                                               const std::string& worker_type,
                                               PoolSettings settings,
                                               const std::string& image = "image-1",
                                               const std::string& strategy = "classic");
std::shared_ptr<const fleet::Configuration> configuration_of(
    std::vector<std::shared_ptr<const fleet::PoolSpec>> pools);

}  // namespace muster::simulation
