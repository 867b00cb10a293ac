#include <algorithm>

#include <muster/rules/configuration_set.hpp>

#include "reach.hpp"

namespace muster::rules {
namespace {

// The setting `providers` alone, evaluated as all pool settings are. Whether it is well formed is
// pool_settings()'s to say.
std::vector<std::string> named_providers(const Document& document, const std::string& worker_type) {
  std::vector<std::string> names;
  const Facts facts = {{"workerType", worker_type}};
  const Path path = {"providers"};
  for (const Rule& rule : document.rules) {
    const Node* value = rule.values.find(path.front());
    const bool unset = std::any_of(rule.unset.begin(), rule.unset.end(),
                                   [&](const Unset& each) { return each.path == path; });
    if ((!value && !unset) || !matches(rule, facts)) continue;
    names.clear();
    if (!value || !value->is_array()) continue;
    for (const Node& item : *value->array())
      if (item.scalar() && item.scalar()->is_string())
        names.emplace_back(item.scalar()->get_string());
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

std::vector<const Provider*> opted_in(const Document& document, const std::string& worker_type,
                                      const KnownFacts& known) {
  std::vector<const Provider*> providers;
  const std::vector<std::string> names = named_providers(document, worker_type);
  for (const Provider& provider : known.providers)
    if (names.empty() || std::binary_search(names.begin(), names.end(), provider.provider_id))
      providers.push_back(&provider);
  return providers;
}

std::vector<Combination> ConfigurationSet::combinations(const Document& document) const {
  std::vector<Combination> result;
  if (!known_) return result;
  for (const WorkerType& type : document.worker_types)
    for (const Provider* provider : opted_in(document, type.name, *known_))
      for (std::size_t i = 0; i < provider->placements.size(); ++i) {
        if (result.size() == limits_.max_combinations) return result;
        Facts facts = provider->placements[i];
        facts["workerType"] = type.name;
        facts["provider"] = provider->provider_id;
        result.push_back({type.name, provider->provider_id, i, std::move(facts)});
      }
  return result;
}

std::size_t ConfigurationSet::count_combinations(const Document& document) const {
  std::size_t count = 0;
  if (!known_) return count;
  for (const WorkerType& type : document.worker_types)
    for (const Provider* provider : opted_in(document, type.name, *known_))
      count += provider->placements.size();
  return count;
}

}  // namespace muster::rules
