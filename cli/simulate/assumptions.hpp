// What a simulation assumes of clouds that it cannot ask: `simulation.toml` beside the
// configuration.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/json.hpp>

#include "lib/toml/mistake.hpp"

namespace muster::cli {

inline constexpr std::string_view assumptions_file_name = "simulation.toml";

// Of one provider. The defaults are those of a cloud about which nothing is said.
struct CloudAssumptions {
  double price_per_hour = 0.10;  // of one machine
  std::int64_t per_zone = 1000;  // machines of each type that each placement has
  std::pair<double, double> boot_seconds = {60, 120};
  double never_boots = 0;  // probability
  struct Type {
    std::optional<double> price_per_hour = {};
    std::optional<std::int64_t> per_zone = {};
  };
  std::map<std::string, Type> instance_types;
  json::object trouble;  // failures, interruptions, prices, quotas, slow: as provider/simulated has
                         // them
  json::object config;   // for an instance of provider/simulated: all of its configuration
  config::Position position;  // where its table begins
};

struct Assumptions {
  std::map<std::string, CloudAssumptions> providers;
};

struct AssumptionsReading {
  Assumptions assumptions;  // to be used only without mistakes
  std::vector<config::Mistake> mistakes;
};

AssumptionsReading read_assumptions(std::string_view toml);

}  // namespace muster::cli
