// What a new version of the worker configurations changed in what the rules come to, pool by pool.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <muster/rules/evaluate.hpp>

#include "host/pools/source.hpp"

namespace muster::pools {

struct DifferenceLimits {
  std::size_t changes = 1000;  // that are told; more are counted
  std::size_t fact_sets = 20;  // of a pool
};

// The facts of launch configurations of a worker type.
using FactsOf = std::function<std::vector<rules::Facts>(const std::string& worker_type)>;

// {"changes": [...], "more"}: pools that came or went, and each value that is another, once for
// each pool, with the rule, file and line of both versions and for how many of the launch
// configurations. Files with errors are left out. Pure but for `facts_of`.
json::object difference(const SourceFiles& before, const SourceFiles& after,
                        const FactsOf& facts_of, const DifferenceLimits& limits = {});

}  // namespace muster::pools
