#include <algorithm>

#include "lint_parts.hpp"

namespace muster::rules {
namespace {

bool matches_any(const Glob& glob, const Names& values) {
  if (glob.is_literal()) return values.contains(glob.literal());
  return std::any_of(values.begin(), values.end(),
                     [&](const std::string& value) { return glob.matches(value); });
}

std::string suggestion(const Glob& glob, const Names& values) {
  const std::vector<std::string> names(values.begin(), values.end());
  const std::string nearest = nearest_name(glob.pattern(), names);
  if (!nearest.empty()) return "did you mean " + nearest + "?";
  std::string known;
  for (const std::string& name : names) {
    if (known.size() > 60) return "known are " + known + ", ...";
    known += (known.empty() ? "" : ", ") + name;
  }
  return "known are " + known;
}

// Patterns that match no known value. True if that leaves the clause without hope.
bool lint_patterns(Warnings& warnings, const Clause& clause, std::size_t rule,
                   const std::vector<std::string>& names,
                   const std::map<std::string, Names, std::less<>>& values) {
  bool hopeless = false;
  for (const Condition& condition : clause.all_of) {
    const auto known = values.find(condition.fact);
    if (known == values.end()) {  // an unknown name is an error of its own
      hopeless = hopeless || !std::binary_search(names.begin(), names.end(), condition.fact);
      continue;
    }
    std::size_t dead = 0;
    for (std::size_t p = 0; p < condition.any_of.size(); ++p) {
      if (matches_any(condition.any_of[p], known->second)) continue;
      ++dead;
      warnings.add(condition.pattern_positions[p],
                   rule_key(rule) + ".conditions." + format_path({condition.fact}),
                   "no " + condition.fact + " that these workers can have matches " +
                       in_quotes(condition.any_of[p].pattern()),
                   suggestion(condition.any_of[p], known->second), "neverMatches");
    }
    hopeless = hopeless || dead == condition.any_of.size();
  }
  return hopeless;
}

}  // namespace

void lint_reach(Warnings& warnings, const KnownFacts* known, const Limits& limits) {
  const Document& document = warnings.document();
  const Reach reach = measure_reach(document, known, limits);
  const auto names = known ? known->fact_names() : std::vector<std::string>{};
  const bool all_are_known = reach.launch_documents > 0;
  std::vector<bool> matched(document.rules.size(), false);
  for (const RuleSet& set : reach.sets)
    for (const std::size_t rule : members(set)) matched[rule] = true;
  for (std::size_t r = 0; r < document.rules.size(); ++r) {
    const Rule& rule = document.rules[r];
    bool explained = false;
    for (const Clause& clause : rule.any_of)
      explained = lint_patterns(warnings, clause, r, names, reach.values) || explained;
    if (all_are_known && !matched[r] && !explained)
      warnings.add(rule.conditions_position, rule_key(r) + ".conditions",
                   "the rule " + in_quotes(rule.rule_id) + " matches none of the " +
                       std::to_string(reach.launch_documents) + " launch documents of this file",
                   "no placement has all these facts together: correct or remove it",
                   "neverMatches");
  }
  lint_overwritten(warnings, all_are_known ? &reach.sets : nullptr);
}

}  // namespace muster::rules
