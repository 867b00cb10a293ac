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
  double price_per_hour = 0.10;   // of one machine
  std::string price_source = {};  // who says so: a file; empty: nobody, it is assumed
  std::int64_t per_zone = 1000;   // machines of each type that each placement has
  std::pair<double, double> boot_seconds = {60, 120};
  double never_boots = 0;  // probability
  struct Type {
    std::optional<double> price_per_hour = {};
    std::string price_source = {};
    std::optional<std::int64_t> per_zone = {};
  };
  std::map<std::string, Type> instance_types;
  json::object trouble;  // failures, interruptions, prices, quotas, slow: as provider/simulated has
                         // them
  json::object config;   // for an instance of provider/simulated: all of its configuration
  config::Position position;  // where its table begins
};

inline constexpr const char* usual_currency = "USD";

struct Assumptions {
  std::map<std::string, CloudAssumptions> providers;
  std::string currency = {};  // of all prices; empty: not said
};

struct AssumptionsReading {
  Assumptions assumptions;  // to be used only without mistakes
  std::vector<config::Mistake> mistakes;
};

// `file`: its name, as the source of the prices.
AssumptionsReading read_assumptions(std::string_view toml, const std::string& file);

// A price of `base` that `prices` does not replace: "ec2" or "ec2 big"; empty if there is none.
std::string price_that_stays(const Assumptions& base, const Assumptions& prices);

// Takes over the currency and the prices of `prices`, and nothing else.
void take_prices(const Assumptions& prices, Assumptions& into);

}  // namespace muster::cli
