// How two sets of worker configurations differ in what they evaluate to, described by what was
// changed and not once for each place it reaches.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <muster/json.hpp>
#include <muster/rules/configuration_set.hpp>

#include "cli/rules/fact_sets.hpp"

namespace muster::cli {

struct Effect {
  std::string configuration;
  std::string rule;           // that did it
  bool rule_removed = false;  // by no longer being there
  std::string file;           // where, in the new set (in the old one for removals)
  std::uint32_t line = 0;
  std::string key;
  std::optional<json::value> before, after;
  std::string noun;       // of what: "launch configuration", "worker pool", "case"
  std::size_t count = 0;  // changed, of all there are
  std::size_t all = 0;
  std::vector<Box> where;  // empty: everywhere
};

// What came and went as a whole.
struct Arrival {
  enum class What { configuration, worker_type, combination };
  What what = What::worker_type;
  bool added = false;
  std::string configuration;
  std::string name;                       // of the worker type; for combinations: which ones
  std::size_t launch_configurations = 0;  // that came or went with it
};

struct Effects {
  std::vector<Arrival> arrivals;
  std::vector<Effect> effects;
  std::vector<std::string> skipped;  // configurations with errors on a side
};

Effects compare(const rules::ConfigurationSet& before, const rules::ConfigurationSet& after);

}  // namespace muster::cli
