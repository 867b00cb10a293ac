// What a worker configuration says about a pool as a whole, evaluated with only `workerType` known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/json.hpp>
#include <muster/rules/document.hpp>
#include <muster/rules/evaluate.hpp>

namespace muster::rules {

struct PoolSettings {
  std::vector<std::string> providers;  // opted in
  std::string strategy;                // its name; empty: the host's default
  json::object strategy_settings;      // settings of the strategy: its table without `name`
  std::int64_t min_capacity = 0;
  std::int64_t max_capacity = 0;
  double scaling_ratio = 1.0;
  std::string owner;
  std::string description;
  bool email_on_error = false;
  std::vector<std::string> teams;
  std::vector<std::string> public_worker_keys;  // of workers that may join; empty: no key is needed
  std::vector<std::string> placement_strategies;  // of requests for its workers, in their order
  json::object lifecycle;
  json::object payload_schema;
  json::object document;  // all that the rules said
};

// Names of the settings, as documents spell them.
const std::vector<std::string>& pool_setting_names();
bool is_pool_setting(std::string_view name);

// What is left of an evaluated document for launching: no pool settings, for a change of a pool's
// owner or description must not look like another machine.
json::object launch_document(const json::object& evaluated);

struct CheckedPoolSettings {
  PoolSettings settings;  // to be used only if there are no errors
  Problems problems;      // at the line that set the wrong value, or at the worker type if missing
};

// Checks types, ranges and that the mandatory ones are there: providers, maxCapacity, owner,
// description. `known` given: providers must be among them.
CheckedPoolSettings pool_settings(const Document& document, std::string_view worker_type,
                                  const KnownFacts* known = nullptr);

}  // namespace muster::rules
