#include "host/pools/problem_places.hpp"

#include <algorithm>

#include <muster/rules/evaluate.hpp>

namespace muster::pools {
namespace {

std::size_t common_length(const rules::Path& a, const rules::Path& b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                                  a.begin());
}

rules::Position position_of(const rules::Document& document, const rules::Facts& facts,
                            const rules::Path& path) {
  const rules::Evaluation evaluation = rules::evaluate(document, facts);
  std::size_t best = 0;
  rules::Position position;
  const auto consider = [&](const auto& candidates) {
    for (const auto& candidate : candidates)
      if (const auto common = common_length(candidate.path, path); common > best) {
        best = common;
        position = candidate.position;
      }
  };
  consider(evaluation.leaves);
  consider(evaluation.deleted);
  if (best > 0) return position;
  const auto type = facts.find("workerType");
  for (const rules::WorkerType& each : document.worker_types)
    if (type != facts.end() && each.name == type->second) return each.position;
  return {};
}

std::string text_of(const rules::Facts& facts) {
  std::string text;
  for (const char* first : {"workerType", "provider", "region"})
    if (const auto found = facts.find(first); found != facts.end())
      text += (text.empty() ? "" : " ") + found->first + "=" + found->second;
  for (const auto& [name, value] : facts)
    if (name != "workerType" && name != "provider" && name != "region")
      text += " " + name + "=" + value;
  return text;
}

}  // namespace

void ProblemPlaces::add(const rules::Document& document, const rules::Facts& facts,
                        const Finding& finding) {
  rules::Problem problem{finding.severity,
                         document.at(position_of(document, facts, finding.path)),
                         rules::format_path(finding.path),
                         finding.reason,
                         finding.remedy,
                         finding.code};
  auto& found = found_[{problem.position, problem.key, problem.reason}];
  if (found.count++ > 0) return;
  found.problem = std::move(problem);
  found.first = text_of(facts);
}

rules::Problems ProblemPlaces::take() {
  rules::Problems problems;
  for (auto& [key, found] : found_) {
    found.problem.reason += " (for " + found.first;
    if (found.count > 1)
      found.problem.reason += " and " + std::to_string(found.count - 1) + " more";
    found.problem.reason += ")";
    problems.push_back(std::move(found.problem));
  }
  found_.clear();
  return problems;
}

}  // namespace muster::pools
