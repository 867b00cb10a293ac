#include <muster/rules/configuration_set.hpp>
#include <muster/rules/evaluate.hpp>
#include <muster/rules/lint.hpp>
#include <muster/rules/pool_settings.hpp>

#include "parallel.hpp"

namespace muster::rules {
namespace {

void add(Problems& to, Problems&& more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void check_product(const Document& document, const ConfigurationSet& set, Problems& problems) {
  const std::size_t count = set.count_combinations(document);
  if (count <= set.limits().max_combinations) return;
  problems.push_back({Severity::error, document.at(document.worker_types.front().position),
                      "workerTypes",
                      std::to_string(document.worker_types.size()) +
                          " worker types at the placements of their providers make " +
                          std::to_string(count) + " launch documents, more than the " +
                          std::to_string(set.limits().max_combinations) + " allowed",
                      "split the file, or opt in to fewer providers", "tooManyCombinations"});
}

std::size_t count_patterns(const Document& document) {
  std::size_t count = 0;
  for (const Rule& rule : document.rules)
    for (const Clause& clause : rule.any_of)
      for (const Condition& condition : clause.all_of) count += condition.any_of.size();
  return count;
}

// Counted up to one more than `most`.
std::size_t count_pool_rules(const Document& document, std::size_t most) {
  std::size_t count = 0;
  for (const WorkerType& type : document.worker_types) {
    const Facts facts = {{"workerType", type.name}};
    for (const Rule& rule : document.rules)
      if (matches(rule, facts) && ++count > most) return count;
  }
  return count;
}

// Whether the file is small enough to be looked at further.
bool check_work(const Document& document, const Limits& limits, Problems& problems) {
  if (document.worker_types.empty()) return true;
  const auto refuse = [&](const std::string& what, std::size_t most) {
    problems.push_back(too_much_work(document, what, most));
    return false;
  };
  if (count_patterns(document) * document.worker_types.size() > limits.max_pattern_checks)
    return refuse("worker types times patterns in conditions", limits.max_pattern_checks);
  if (count_pool_rules(document, limits.max_pool_rules) > limits.max_pool_rules)
    return refuse("worker types times rules that apply to them", limits.max_pool_rules);
  return true;
}

void check_document(const Document& document, const ConfigurationSet& set, Problems& problems) {
  if (!check_work(document, set.limits(), problems)) return;
  const KnownFacts* known = set.known() ? &*set.known() : nullptr;
  for (const WorkerType& type : document.worker_types)
    add(problems, pool_settings(document, type.name, known).problems);
  check_product(document, set, problems);
  add(problems, lint(document, set));
}

// What is missing may be in the part that could not be read, and what seems to have no effect may
// have one there: only what is there and wrong counts.
void check_incomplete(const Document& document, const ConfigurationSet& set, Problems& problems) {
  if (!check_work(document, set.limits(), problems)) return;
  const KnownFacts* known = set.known() ? &*set.known() : nullptr;
  for (const WorkerType& type : document.worker_types)
    for (Problem& problem : pool_settings(document, type.name, known).problems)
      if (problem.code != "missingPoolSetting") problems.push_back(std::move(problem));
}

}  // namespace

Problem too_much_work(const Document& document, const std::string& what, std::size_t most) {
  return {Severity::error,
          document.at(document.worker_types.front().position),
          "workerTypes",
          "the file is too much work: " + what + " come to more than the " + std::to_string(most) +
              " allowed",
          "split the file, or join rules that apply to the same workers",
          too_much_work_code};
}

Problems check(const ConfigurationSet& set) {
  std::vector<const Document*> documents;
  for (const auto& [id, document] : set.documents()) documents.push_back(document.get());
  for (const auto& document : set.rejected()) documents.push_back(document.get());
  std::vector<Problems> found(documents.size());
  for_each_index(documents.size(),
                 [&](std::size_t i) { check_document(*documents[i], set, found[i]); });
  Problems problems = set.problems();
  for (Problems& each : found) add(problems, std::move(each));
  for (const auto& document : set.incomplete()) check_incomplete(*document, set, problems);
  sort_problems(problems);
  return problems;
}

}  // namespace muster::rules
