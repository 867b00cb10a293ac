// What the known facts allow a document to meet.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include <muster/rules/configuration_set.hpp>

#include "matcher.hpp"

namespace muster::rules {

using Names = std::set<std::string, std::less<>>;
using RuleSets = std::unordered_set<RuleSet, RuleSetHash>;

// Providers that a worker type opted in to; all known ones if it names none.
std::vector<const Provider*> opted_in(const Document& document, const std::string& worker_type,
                                      const KnownFacts& known);

struct Reach {
  std::size_t launch_documents = 0;
  // The values that each fact can have. A fact that is not in here can have any.
  std::map<std::string, Names, std::less<>> values;
  // The different sets of rules that match for a launch document, or for pool settings.
  RuleSets sets;
};

// `known` may be null: then only the worker types are known.
Reach measure_reach(const Document& document, const KnownFacts* known, const Limits& limits);

}  // namespace muster::rules
