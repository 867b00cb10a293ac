#include <muster/rules/configuration_set.hpp>
#include <muster/rules/lint.hpp>
#include <muster/rules/pool_settings.hpp>

namespace muster::rules {

Problems check(const ConfigurationSet& set) {
  Problems problems = set.problems();
  const auto add = [&](Problems more) {
    problems.insert(problems.end(), more.begin(), more.end());
  };
  for (const auto& [id, document] : set.documents()) {
    for (const WorkerType& type : document->worker_types)
      add(pool_settings(*document, type.name, set.known() ? &*set.known() : nullptr).problems);
    add(lint(*document, set));
  }
  sort_problems(problems);
  return problems;
}

}  // namespace muster::rules
