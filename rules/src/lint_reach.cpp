#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "cover.hpp"
#include "history.hpp"
#include "lint_parts.hpp"
#include "matcher.hpp"

namespace muster::rules {
namespace {

using Names = std::set<std::string, std::less<>>;

// Which values of each fact are known: all worker types of the file, and what the combinations
// hold. A fact that is not in here can have any value.
std::map<std::string, Names, std::less<>> known_values(const Document& document,
                                                       std::span<const Combination> combinations) {
  std::map<std::string, Names, std::less<>> values;
  for (const WorkerType& type : document.worker_types) values["workerType"].insert(type.name);
  for (const Combination& combination : combinations)
    for (const auto& [name, value] : combination.facts) values[name].insert(value);
  return values;
}

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
    if (known == values.end()) {  // if nobody knows the name, that is an error of its own
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

using RuleSets = std::unordered_set<RuleSet, RuleSetHash>;

RuleSets distinct_matches(const Document& document, std::span<const Combination> combinations) {
  Matcher matcher(std::shared_ptr<const Document>(std::shared_ptr<void>(), &document));
  RuleSets sets;
  for (const Combination& combination : combinations) sets.insert(matcher.match(combination.facts));
  for (const WorkerType& type : document.worker_types)
    sets.insert(matcher.match({{"workerType", type.name}}));
  return sets;
}

// Rules of which every leaf is touched by some later rule: only they can be without effect, and
// most rules are not among them, which spares evaluating everything.
class OverwriteCandidates {
 public:
  explicit OverwriteCandidates(const Document& document) {
    for (std::size_t r = 0; r < document.rules.size(); ++r) {
      for (const Member& member : *document.rules[r].values.table()) note(member, "", r);
      for (const Unset& unset : document.rules[r].unset) note(unset.path, r);
    }
  }

  bool contains(const Rule& rule, std::size_t index) const {
    const auto& members = *rule.values.table();
    if (members.empty() && rule.unset.empty()) return false;
    return std::all_of(members.begin(), members.end(),
                       [&](const Member& member) { return is_touched(member, "", index, false); });
  }

 private:
  static std::string key(const std::string& path, const std::string& name) {
    return path + '\0' + name;
  }

  void note(const Member& member, const std::string& path, std::size_t rule) {
    const std::string here = key(path, member.name);
    last_below_[here] = rule;
    const auto* members = member.node.table();
    if (!members || members->empty())
      last_at_[here] = rule;
    else
      for (const Member& child : *members) note(child, here, rule);
  }

  void note(const Path& path, std::size_t rule) {
    std::string here;
    for (const std::string& name : path) last_below_[here = key(here, name)] = rule;
    last_at_[here] = rule;
  }

  bool is_touched(const Member& member, const std::string& path, std::size_t rule,
                  bool above) const {
    const std::string here = key(path, member.name);
    const auto at = last_at_.find(here);
    const bool covered = above || (at != last_at_.end() && at->second > rule);
    const auto* members = member.node.table();
    if (!members || members->empty()) return covered || last_below_.at(here) > rule;
    return std::all_of(members->begin(), members->end(),
                       [&](const Member& child) { return is_touched(child, here, rule, covered); });
  }

  std::unordered_map<std::string, std::size_t> last_below_, last_at_;
};

// What is left of a rule's work among the given ones.
struct Remains {
  bool anything = false;
  Names overwritten_by;
};

void look_for_remains(const Document& document, const std::vector<std::size_t>& rules,
                      std::size_t rule, Remains& remains) {
  History history;
  for (const std::size_t r : rules) history.apply(document.rules[r], r);
  Evaluation evaluation;
  history.report(evaluation);
  for (const Deletion& deletion : evaluation.deleted)
    if (deletion.rule == rule) remains.anything = true;
  const auto replaced = [&](const auto& leaf) {
    const bool was_here = std::any_of(leaf.earlier.begin(), leaf.earlier.end(),
                                      [&](const Change& change) { return change.rule == rule; });
    if (leaf.rule != rule && was_here)
      remains.overwritten_by.insert(document.rules[leaf.rule].rule_id);
  };
  for (const Leaf& leaf : evaluation.leaves) {
    if (leaf.rule == rule) remains.anything = true;
    replaced(leaf);
  }
  for (const Deletion& deletion : evaluation.deleted) replaced(deletion);
}

void report_overwritten(Warnings& warnings, std::size_t r, const Remains& remains) {
  const Rule& rule = warnings.document().rules[r];
  std::string by;
  for (const std::string& id : remains.overwritten_by)
    by += (by.empty() ? "" : ", ") + in_quotes(id);
  warnings.add(rule.position, rule_key(r),
               by.empty() ? "the rule " + in_quotes(rule.rule_id) + " unsets only what is never set"
                          : "everything that the rule " + in_quotes(rule.rule_id) +
                                " sets is overwritten by " + by,
               "remove it, or move it behind them", "overwritten");
}

void lint_overwritten(Warnings& warnings, const RuleSets& sets, bool all_are_known) {
  const Document& document = warnings.document();
  const OverwriteCandidates candidates(document);
  for (std::size_t r = 0; r < document.rules.size(); ++r) {
    const Rule& rule = document.rules[r];
    if (!candidates.contains(rule, r)) continue;
    Remains remains;
    bool applies = false;
    if (all_are_known) {
      for (const RuleSet& set : sets) {
        const auto rules = members(set);
        if (!std::binary_search(rules.begin(), rules.end(), r)) continue;
        applies = true;
        look_for_remains(document, rules, r, remains);
        if (remains.anything) break;
      }
    } else if (!rule.values.table()->empty()) {
      // Whatever the facts: later rules that hold wherever this one does.
      std::vector<std::size_t> rules = {r};
      for (std::size_t later = r + 1; later < document.rules.size(); ++later)
        if (covers(document.rules[later], rule)) rules.push_back(later);
      applies = rules.size() > 1 && rule.unset.empty();
      if (applies) look_for_remains(document, rules, r, remains);
    }
    if (applies && !remains.anything) report_overwritten(warnings, r, remains);
  }
}

}  // namespace

void lint_reach(Warnings& warnings, const KnownFacts* known,
                std::span<const Combination> combinations) {
  const Document& document = warnings.document();
  const auto values = known_values(document, combinations);
  const auto names = known ? known->fact_names() : std::vector<std::string>{};
  const bool all_are_known = known && !combinations.empty();
  const RuleSets sets = all_are_known ? distinct_matches(document, combinations) : RuleSets{};
  std::set<std::size_t> matched;
  for (const RuleSet& set : sets)
    for (const std::size_t rule : members(set)) matched.insert(rule);
  for (std::size_t r = 0; r < document.rules.size(); ++r) {
    const Rule& rule = document.rules[r];
    bool explained = false;
    for (const Clause& clause : rule.any_of)
      explained = lint_patterns(warnings, clause, r, names, values) || explained;
    if (all_are_known && !matched.contains(r) && !explained)
      warnings.add(rule.conditions_position, rule_key(r) + ".conditions",
                   "the rule " + in_quotes(rule.rule_id) + " matches none of the " +
                       std::to_string(combinations.size()) + " launch documents of this file",
                   "no placement has all these facts together: correct or remove it",
                   "neverMatches");
  }
  lint_overwritten(warnings, sets, all_are_known);
}

}  // namespace muster::rules
