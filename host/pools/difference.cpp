#include "host/pools/difference.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <muster/rules/explanation.hpp>

#include "host/pools/builder.hpp"

namespace muster::pools {
namespace {

using rules::ConfigurationSet;
using rules::Document;
using rules::Evaluation;
using rules::Facts;
using rules::Leaf;

// Those that are not the same in both versions: nothing of a file depends on another one.
std::vector<rules::SourceFile> changed_files(const SourceFiles& of, const SourceFiles& other) {
  std::set<std::pair<std::string, std::string>> known;
  for (const rules::SourceFile& file : other.files) known.emplace(file.name, file.text);
  std::vector<rules::SourceFile> changed;
  for (const rules::SourceFile& file : of.files)
    if (!known.contains({file.name, file.text})) changed.push_back(file);
  return changed;
}

std::set<std::string> worker_types_of(const ConfigurationSet& set) {
  std::set<std::string> types;
  for (const auto& [id, document] : set.documents())
    for (const rules::WorkerType& type : document->worker_types) types.insert(type.name);
  return types;
}

json::value side(const Document& document, const Leaf* leaf) {
  if (!leaf) return nullptr;
  json::object object = rules::to_json(document, *leaf);
  object.erase("replaced");
  object.erase("key");
  return object;
}

class Comparison {
 public:
  Comparison(const FactsOf& facts_of, const DifferenceLimits& limits)
      : facts_of_(facts_of), limits_(limits) {}

  void add_pool(const std::string& type, const char* what) {
    add({{"workerPoolId", worker_pool_of(type).str()}, {"what", what}});
  }

  void compare(const std::string& type, const Document& before, const Document& after) {
    const std::vector<Facts> all = facts_to_compare(type);
    // Each change once, and how many of the cases have it.
    std::map<std::pair<std::string, std::string>, std::pair<json::object, std::int64_t>> changes;
    for (const Facts& facts : all) {
      const Evaluation was = rules::evaluate(before, facts), is = rules::evaluate(after, facts);
      for (const rules::Path& path : paths_of(was, is)) {
        const Leaf *old_leaf = was.find(path), *new_leaf = is.find(path);
        if (old_leaf && new_leaf && old_leaf->value == new_leaf->value) continue;
        json::object change{{"workerPoolId", worker_pool_of(type).str()},
                            {"what", "changed"},
                            {"key", rules::format_path(path)},
                            {"before", side(before, old_leaf)},
                            {"after", side(after, new_leaf)}};
        auto& [document, count] = changes[{rules::format_path(path), json::write(change)}];
        if (document.empty()) document = std::move(change);
        ++count;
      }
    }
    for (auto& [key, found] : changes) {
      found.first["cases"] = found.second;
      found.first["ofCases"] = all.size();
      add(std::move(found.first));
    }
  }

  json::object document() && { return {{"changes", std::move(changes_)}, {"more", more_}}; }

 private:
  std::vector<Facts> facts_to_compare(const std::string& type) const {
    std::vector<Facts> all = facts_of_(type);
    if (all.empty()) all.emplace_back();
    if (all.size() > limits_.fact_sets) all.resize(limits_.fact_sets);
    for (Facts& facts : all) facts["workerType"] = type;
    return all;
  }

  static std::vector<rules::Path> paths_of(const Evaluation& was, const Evaluation& is) {
    std::vector<rules::Path> paths;
    for (const Evaluation* each : {&was, &is})
      for (const Leaf& leaf : each->leaves)
        if (each == &was || !was.find(leaf.path)) paths.push_back(leaf.path);
    return paths;
  }

  void add(json::object change) {
    if (changes_.size() < limits_.changes)
      changes_.push_back(std::move(change));
    else
      ++more_;
  }

  const FactsOf& facts_of_;
  const DifferenceLimits& limits_;
  json::array changes_;
  std::int64_t more_ = 0;
};

}  // namespace

json::object difference(const SourceFiles& before, const SourceFiles& after,
                        const FactsOf& facts_of, const DifferenceLimits& limits) {
  const auto was = ConfigurationSet::from_files(changed_files(before, after));
  const auto is = ConfigurationSet::from_files(changed_files(after, before));
  std::set<std::string> types = worker_types_of(was);
  types.merge(worker_types_of(is));
  Comparison comparison(facts_of, limits);
  for (const std::string& type : types) {
    const Document* old_document = was.find_by_worker_type(type);
    const Document* new_document = is.find_by_worker_type(type);
    if (old_document && new_document)
      comparison.compare(type, *old_document, *new_document);
    else
      comparison.add_pool(type, new_document ? "added" : "removed");
  }
  return std::move(comparison).document();
}

}  // namespace muster::pools
