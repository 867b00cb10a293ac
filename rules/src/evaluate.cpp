#include <algorithm>

#include <muster/rules/evaluate.hpp>

#include "assign.hpp"
#include "history.hpp"

namespace muster::rules {
namespace {

bool holds(const Condition& condition, const Facts& facts) {
  const auto fact = facts.find(condition.fact);
  return fact != facts.end() &&
         std::any_of(condition.any_of.begin(), condition.any_of.end(),
                     [&](const Glob& glob) { return glob.matches(fact->second); });
}

bool holds(const Clause& clause, const Facts& facts) {
  return std::all_of(clause.all_of.begin(), clause.all_of.end(),
                     [&](const Condition& condition) { return holds(condition, facts); });
}

}  // namespace

bool matches(const Rule& rule, const Facts& facts) {
  return rule.any_of.empty() ||
         std::any_of(rule.any_of.begin(), rule.any_of.end(),
                     [&](const Clause& clause) { return holds(clause, facts); });
}

const Leaf* Evaluation::find(const Path& path) const {
  const auto found = std::find_if(leaves.begin(), leaves.end(),
                                  [&](const Leaf& leaf) { return leaf.path == path; });
  return found == leaves.end() ? nullptr : &*found;
}

Evaluation evaluate(const Document& document, const Facts& facts) {
  Evaluation evaluation;
  History history;
  for (std::size_t i = 0; i < document.rules.size(); ++i) {
    if (!matches(document.rules[i], facts)) continue;
    evaluation.matched.push_back(i);
    history.apply(document.rules[i], i);
  }
  history.report(evaluation);
  return evaluation;
}

json::object evaluate_rules(const Document& document, const std::vector<std::size_t>& rules) {
  json::object result;
  for (const std::size_t i : rules) {
    for (const Unset& unset : document.rules[i].unset) unset_path(result, unset.path);
    deep_assign(result, to_json(document.rules[i].values).get_object());
  }
  return result;
}

}  // namespace muster::rules
