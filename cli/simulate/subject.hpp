// What is simulated: an operator's configuration with simulated clouds in the place of its
// providers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <muster/rules/configuration_set.hpp>

#include "cli/host_address.hpp"
#include "cli/simulate/clouds.hpp"
#include "cli/simulate/strategies.hpp"
#include "host/fleet/model/settings.hpp"
#include "host/simulation/scenario.hpp"

namespace muster::cli {

struct SubjectOptions {
  std::string path;      // a folder of worker configurations, or a host configuration
  std::string strategy;  // for all pools; empty: what each says
  std::uint64_t seed = 1;
  bool as_json = false;
  std::string prices = {};  // a file; empty: none
  HostOptions host = {};    // whose prices are taken, if its `url` is not empty
};

struct Subject {
  std::string name;  // as a person would call it
  std::shared_ptr<const fleet::Configuration> configuration;
  std::vector<simulation::ProviderScenario> providers;
  fleet::Settings settings;
  std::unique_ptr<Strategies> strategies;  // all that the pools use
  std::string warnings;                    // what `muster check` would say, as text
  std::string currency;
  std::vector<UsedPrice> prices;
};

// Prints all that is wrong, as `muster check` does, and ends the program if it cannot be simulated.
Subject load_subject(const SubjectOptions& options);

}  // namespace muster::cli
