#include <algorithm>
#include <map>

#include <muster/rules/compiled.hpp>
#include <muster/rules/evaluator.hpp>

#include "assign.hpp"
#include "effect.hpp"
#include "matcher.hpp"

namespace muster::rules {
namespace {

using SharedEvaluated = std::shared_ptr<const Evaluated>;
using EffectKey = std::vector<const Effect*>;

struct EffectKeyHash {
  std::size_t operator()(const EffectKey& key) const {
    std::size_t hash = 0;
    for (const Effect* effect : key)
      hash = mix_hash(hash, reinterpret_cast<std::uintptr_t>(effect));
    return hash;
  }
};

using ResultsByRules = std::unordered_map<RuleSet, SharedEvaluated, RuleSetHash>;

struct LoadedDocument {
  LoadedDocument(std::shared_ptr<const Document> document, EffectTable& table)
      : matcher(std::move(document)) {
    for (const Rule& rule : matcher.rules().document().rules) effects.push_back(table.intern(rule));
  }

  Matcher matcher;
  std::vector<std::shared_ptr<const Effect>> effects;  // of each rule
  ResultsByRules results;
  ResultsByRules results_before;  // of the replaced document: alive for those who ask again
};

SharedEvaluated apply(std::vector<std::shared_ptr<const Effect>> effects) {
  auto result = std::make_shared<Evaluated>();
  for (const auto& effect : effects) {
    for (const Path& path : effect->unset) unset_path(result->document, path);
    deep_assign(result->document, effect->values);
  }
  result->effects = std::move(effects);
  return result;
}

}  // namespace

struct Evaluator::State {
  std::map<std::string, LoadedDocument, std::less<>> documents;
  EffectTable effect_table;
  // Keys are addresses of effects, which a living result keeps alive: an address cannot come to
  // mean another effect while its result is still here.
  std::unordered_map<EffectKey, std::weak_ptr<const Evaluated>, EffectKeyHash> by_effects;
  std::size_t sweep_at = 1024;
  EvaluatorStatistics statistics;
  EffectKey key;  // scratch

  SharedEvaluated find_or_apply(const LoadedDocument& document, const RuleSet& matched) {
    std::vector<std::shared_ptr<const Effect>> effects;
    key.clear();
    for (const std::size_t rule : members(matched)) {
      const auto& effect = document.effects[rule];
      if (effect->empty()) continue;
      effects.push_back(effect);
      key.push_back(effect.get());
    }
    auto& place = by_effects[key];
    if (SharedEvaluated known = place.lock()) return ++statistics.found, known;
    ++statistics.evaluated;
    SharedEvaluated result = apply(std::move(effects));
    place = result;
    if (by_effects.size() >= sweep_at) sweep();
    return result;
  }

  void sweep() {
    std::erase_if(by_effects, [](const auto& entry) { return entry.second.expired(); });
    sweep_at = std::max<std::size_t>(1024, 2 * by_effects.size());
  }
};

Evaluator::Evaluator() : state_(std::make_unique<State>()) {}
Evaluator::~Evaluator() = default;
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;

void Evaluator::update(std::shared_ptr<const Document> document) {
  const std::string id = document->id;
  LoadedDocument loaded(std::move(document), state_->effect_table);
  const auto found = state_->documents.find(id);
  if (found == state_->documents.end()) {
    state_->documents.emplace(id, std::move(loaded));
    return;
  }
  loaded.results_before = std::move(found->second.results);
  found->second = std::move(loaded);
}

void Evaluator::remove(std::string_view id) {
  if (const auto found = state_->documents.find(id); found != state_->documents.end())
    state_->documents.erase(found);
}

SharedEvaluated Evaluator::evaluate(std::string_view id, const Facts& facts) {
  const auto found = state_->documents.find(id);
  if (found == state_->documents.end()) return nullptr;
  LoadedDocument& document = found->second;
  const RuleSet& matched = document.matcher.match(facts);
  if (const auto known = document.results.find(matched); known != document.results.end())
    return ++state_->statistics.found, known->second;
  return document.results.emplace(matched, state_->find_or_apply(document, matched)).first->second;
}

EvaluatorStatistics Evaluator::statistics() const {
  EvaluatorStatistics statistics = state_->statistics;
  statistics.results = static_cast<std::size_t>(
      std::count_if(state_->by_effects.begin(), state_->by_effects.end(),
                    [](const auto& entry) { return !entry.second.expired(); }));
  return statistics;
}

}  // namespace muster::rules
