#include "reach.hpp"

namespace muster::rules {
namespace {

// Worker types often opt in to the same providers: each placement's facts are made once, and only
// the worker type in them changes.
class Measure {
 public:
  Measure(const Document& document, const KnownFacts& known, const Limits& limits)
      : document_(document),
        known_(known),
        limits_(limits),
        matcher_(std::shared_ptr<const Document>(std::shared_ptr<void>(), &document)) {}

  void add(const WorkerType& type, Reach& reach) {
    insert({{"workerType", type.name}}, reach);
    for (const Provider* provider : opted_in(document_, type.name, known_)) {
      for (Facts& facts : facts_of(*provider, reach)) {
        if (reach.launch_documents == limits_.max_combinations) return;
        ++reach.launch_documents;
        facts["workerType"] = type.name;
        insert(facts, reach);
      }
    }
  }

 private:
  std::vector<Facts>& facts_of(const Provider& provider, Reach& reach) {
    const auto [found, is_new] = facts_.try_emplace(&provider, provider.placements);
    if (!is_new) return found->second;
    for (Facts& facts : found->second) {
      facts["provider"] = provider.provider_id;
      for (const auto& [name, value] : facts) reach.values[name].insert(value);
    }
    return found->second;
  }

  void insert(const Facts& facts, Reach& reach) {
    const RuleSet& set = matcher_.match(facts);
    if (!reach.sets.contains(set)) reach.sets.insert(set);
  }

  const Document& document_;
  const KnownFacts& known_;
  const Limits& limits_;
  Matcher matcher_;
  std::map<const Provider*, std::vector<Facts>> facts_;
};

}  // namespace

Reach measure_reach(const Document& document, const KnownFacts* known, const Limits& limits) {
  Reach reach;
  for (const WorkerType& type : document.worker_types) reach.values["workerType"].insert(type.name);
  if (!known) return reach;
  Measure measure(document, *known, limits);
  for (const WorkerType& type : document.worker_types) measure.add(type, reach);
  return reach;
}

}  // namespace muster::rules
