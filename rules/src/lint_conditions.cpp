#include <algorithm>
#include <set>

#include "cover.hpp"
#include "key_path.hpp"
#include "lint_parts.hpp"

namespace muster::rules {
namespace {

// A brace that is not escaped: other globs know {a,b}, ours do not.
bool has_brace(const std::string& pattern) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\')
      ++i;
    else if (pattern[i] == '{')
      return true;
  }
  return false;
}

// Of two that cover each other the later one is superfluous.
template <class T>
const T* first_cover(const std::vector<T>& all, std::size_t index) {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i != index && covers(all[i], all[index]) && (i < index || !covers(all[index], all[i])))
      return &all[i];
  return nullptr;
}

void lint_condition(Warnings& warnings, const Condition& condition, const KeyPath& key) {
  for (std::size_t p = 0; p < condition.any_of.size(); ++p) {
    const std::string& pattern = condition.any_of[p].pattern();
    if (has_brace(pattern))
      warnings.add(condition.pattern_positions[p], key.text(),
                   "braces are not special, so " + in_quotes(pattern) + " only matches real braces",
                   "write a list of globs", "bracesInPattern");
    if (const Glob* wide = first_cover(condition.any_of, p))
      warnings.add(
          condition.pattern_positions[p], key.text(),
          in_quotes(pattern) + " adds nothing, " + in_quotes(wide->pattern()) + " matches it too",
          "remove one of them", "shadowedCondition");
  }
}

}  // namespace

void lint_conditions(Warnings& warnings, const KnownFacts* known) {
  const Document& document = warnings.document();
  std::set<std::string> unverified;
  for (std::size_t r = 0; r < document.rules.size(); ++r) {
    const Rule& rule = document.rules[r];
    for (std::size_t c = 0; c < rule.any_of.size(); ++c) {
      const Clause& clause = rule.any_of[c];
      const std::string path = rule_key(r) + ".conditions" +
                               (rule.any_of.size() > 1 ? "[" + std::to_string(c) + "]" : "");
      if (const Clause* wide = first_cover(rule.any_of, c))
        warnings.add(clause.position, path,
                     "it adds nothing: the alternative in line " +
                         std::to_string(wide->position.line) + " holds wherever it does",
                     "remove it, or narrow the other", "shadowedClause");
      for (const Condition& condition : clause.all_of) {
        const KeyPath beginning(path), key(beginning, condition.fact);
        lint_condition(warnings, condition, key);
        const auto& general = general_fact_names();
        if (!known && std::find(general.begin(), general.end(), condition.fact) == general.end() &&
            unverified.insert(condition.fact).second)
          warnings.add(condition.position, key.text(),
                       "whether a provider knows the fact " + in_quotes(condition.fact) +
                           " cannot be checked, for there is no " + std::string(facts_file_name),
                       "list the providers and their placements there", "unverifiedFact");
      }
    }
  }
}

}  // namespace muster::rules
