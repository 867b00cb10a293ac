// The same layering, done by the program `jsonnet`.
#pragma once

#include <optional>

#include "workload.hpp"

namespace muster::rules::bench {

struct JsonnetRun {
  double seconds_per_evaluation = 0;  // without the start of the process and the reading of rules
  std::vector<json::value> documents;
};

// Evaluates the first `count` fact sets in one process. Patterns may end in one star, as those of
// fleet() do. nullopt if the program is not installed.
std::optional<JsonnetRun> run_jsonnet(const Workload& workload, std::size_t count);

}  // namespace muster::rules::bench
