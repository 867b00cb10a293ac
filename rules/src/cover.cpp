#include "cover.hpp"

#include <algorithm>

namespace muster::rules {

bool covers(const Glob& wide, const Glob& narrow) {
  return wide == narrow || wide.matches_all() ||
         (narrow.is_literal() && wide.matches(narrow.literal()));
}

bool covers(const Condition& wide, const Condition& narrow) {
  return wide.fact == narrow.fact &&
         std::all_of(narrow.any_of.begin(), narrow.any_of.end(), [&](const Glob& pattern) {
           return std::any_of(wide.any_of.begin(), wide.any_of.end(),
                              [&](const Glob& other) { return covers(other, pattern); });
         });
}

bool covers(const Clause& wide, const Clause& narrow) {
  return std::all_of(wide.all_of.begin(), wide.all_of.end(), [&](const Condition& condition) {
    return std::any_of(narrow.all_of.begin(), narrow.all_of.end(),
                       [&](const Condition& other) { return covers(condition, other); });
  });
}

bool covers(const Rule& wide, const Rule& narrow) {
  if (wide.any_of.empty()) return true;
  return !narrow.any_of.empty() &&
         std::all_of(narrow.any_of.begin(), narrow.any_of.end(), [&](const Clause& clause) {
           return std::any_of(wide.any_of.begin(), wide.any_of.end(),
                              [&](const Clause& other) { return covers(other, clause); });
         });
}

}  // namespace muster::rules
