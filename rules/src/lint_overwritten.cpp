#include <algorithm>

#include "cover.hpp"
#include "history.hpp"
#include "lint_parts.hpp"

namespace muster::rules {
namespace {

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

// Rules that are applied to learn which have no effect. Beyond it no more are looked for: a warning
// is not worth more time.
constexpr std::size_t most_applied = 200'000;

bool contains(const RuleSet& set, std::size_t rule) {
  const auto word = std::ranges::find(set, rule / 64, &SetWord::index);
  return word != set.end() && (word->bits >> (rule % 64) & 1) != 0;
}

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

}  // namespace

void lint_overwritten(Warnings& warnings, const RuleSets* sets) {
  const Document& document = warnings.document();
  const OverwriteCandidates candidates(document);
  std::size_t applied = 0;
  for (std::size_t r = 0; r < document.rules.size(); ++r) {
    const Rule& rule = document.rules[r];
    if (!candidates.contains(rule, r)) continue;
    Remains remains;
    bool applies = false;
    if (sets) {
      for (const RuleSet& set : *sets) {
        if (!contains(set, r)) continue;
        const auto rules = members(set);
        if ((applied += rules.size()) > most_applied) return;
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
      if ((applied += rules.size()) > most_applied) return;
      if (applies) look_for_remains(document, rules, r, remains);
    }
    if (applies && !remains.anything) report_overwritten(warnings, r, remains);
  }
}

}  // namespace muster::rules
