// What the benchmarks evaluate: a configuration of a given number of rules, and fact sets for it.
#pragma once

#include <string>
#include <vector>

#include <muster/json.hpp>
#include <muster/rules/facts.hpp>

namespace muster::rules::bench {

struct Workload {
  std::string toml;
  json::array rules;  // the same rules as JSON, for the comparison
  std::vector<Facts> facts;
};

// A fleet as people have it: 100 worker types at 100 placements of two providers; base settings,
// then images by region, subnets by zone, sizes by worker type. Many fact sets match the same
// rules. `edition` changes one rule's value, the one of the rule `edited`.
Workload fleet(std::size_t rule_count, int edition = 0, std::size_t edited = 5);

// The worst case: 10 000 fact sets of which no two match the same rules.
Workload all_different(std::size_t rule_count, int edition = 0, std::size_t edited = 0);

// One file of a repository with many, for checking.
std::string repository_file(std::size_t number, std::size_t rule_count);
std::string repository_facts();

}  // namespace muster::rules::bench
