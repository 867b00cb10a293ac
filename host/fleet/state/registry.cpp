#include "host/fleet/state/registry.hpp"

#include <algorithm>

#include "host/fleet/model/sanitize.hpp"

namespace muster::fleet {
namespace {

const Lifecycle default_lifecycle;

}  // namespace

// -------------------------------------------------------------------------------------------------
// Names

Index Registry::index_of_group(const std::string& name) {
  const auto [at, added] = group_index_.try_emplace(name, static_cast<Index>(groups_.size()));
  if (added) groups_.push_back(name);
  return at->second;
}

Index Registry::index_of_pool(const WorkerPoolId& id) {
  const auto [at, added] = pool_index_.try_emplace(id, static_cast<Index>(pools_.size()));
  if (added) pools_.values_.emplace_back().id = id;
  return at->second;
}

Index Registry::index_of_provider(const ProviderId& id) {
  const auto [at, added] = provider_index_.try_emplace(id, static_cast<Index>(providers_.size()));
  if (added) providers_.values_.emplace_back().id = id;
  return at->second;
}

Index Registry::find_pool_index(const WorkerPoolId& id) const {
  const auto found = pool_index_.find(id);
  return found == pool_index_.end() ? no_index : found->second;
}

Index Registry::find_provider(const ProviderId& id) const {
  const auto found = provider_index_.find(id);
  return found == provider_index_.end() ? no_index : found->second;
}

const Pool* Registry::find_pool(const WorkerPoolId& id) const {
  const Index found = find_pool_index(id);
  return found == no_index ? nullptr : &pools_[found];
}

Index Registry::find_launch_config(const Pool& pool, const LaunchConfigId& id) const {
  for (const Index at : pool.launch_configs)
    if (launch_configs_[at].spec->launch_config.launch_config_id == id) return at;
  return no_index;
}

// -------------------------------------------------------------------------------------------------
// Launch configurations and pools come and go

void Registry::set_spec(LaunchConfigState& launch_config,
                        std::shared_ptr<const LaunchConfigSpec> spec) {
  launch_config.promised = promised_by(*spec);
  launch_config.spec = std::move(spec);
}

Index Registry::add_launch_config(Index pool, std::shared_ptr<const LaunchConfigSpec> spec,
                                  Time created) {
  Index index = static_cast<Index>(launch_configs_.size());
  if (free_launch_configs_.empty()) {
    launch_configs_.values_.emplace_back();
  } else {
    index = free_launch_configs_.back();
    free_launch_configs_.pop_back();
  }
  const Index provider = index_of_provider(spec->provider_id);
  LaunchConfigState& launch_config = launch_configs_[index];
  launch_config = LaunchConfigState{};
  set_spec(launch_config, std::move(spec));
  launch_config.pool = pool;
  launch_config.provider = provider;
  launch_config.created = created;
  pools_[pool].launch_configs.push_back(index);
  return index;
}

void Registry::remove_launch_config(Index index) {
  launch_configs_[index] = LaunchConfigState{};
  free_launch_configs_.push_back(index);
}

// The slot stays empty: timers and calls may still name it.
void Registry::remove_pool(Index index) {
  pool_index_.erase(pools_[index].id);
  pools_[index] = Pool{};
}

// -------------------------------------------------------------------------------------------------
// What follows from them

const Lifecycle& Registry::lifecycle_of(const Worker& worker) const {
  const auto& spec = pools_[worker.pool].spec;
  return spec ? spec->lifecycle : default_lifecycle;
}

std::int64_t Registry::capacity_room(Index pool_index, Index index, Counted counted) const {
  const Pool& pool = pools_[pool_index];
  if (!pool.spec) return 0;
  const auto left_out = [&](const Totals& totals) {
    return counted == Counted::all ? 0 : totals.unconfirmed;
  };
  const LaunchConfigState& launch_config = launch_configs_[index];
  const ProviderState& provider = providers_[launch_config.provider];
  std::int64_t room = pool.spec->settings.max_capacity - pool.totals.used() +
                      left_out(pool.totals) - protected_rows_.capacity_of(pool.id);
  if (launch_config.spec->max_capacity)
    room = std::min(room, *launch_config.spec->max_capacity - launch_config.totals.used() +
                              left_out(launch_config.totals));
  if (provider.settings.max_capacity)
    room = std::min(room, *provider.settings.max_capacity - provider.totals.occupied() +
                              left_out(provider.totals) - protected_rows_.capacity_of(provider.id));
  return std::max<std::int64_t>(room, 0);
}

Result<Index> Registry::place_of(const WorkerPoolId& id, const ProviderId& provider) const {
  const Pool* pool = find_pool(id);
  if (!pool || !pool->spec) return Error::not_found("there is no worker pool " + id.str());
  for (const Index at : pool->launch_configs)
    if (launch_configs_[at].status != LaunchConfigStatus::archived &&
        launch_configs_[at].spec->provider_id == provider)
      return at;
  return Error::invalid("worker pool " + id.str() + " has no launch configuration of " +
                        provider.str() + " for the worker");
}

Index Registry::newest_launch_config(const Worker& worker) const {
  const LaunchConfigState& own = launch_configs_[worker.launch_config];
  if (own.status == LaunchConfigStatus::archived)
    for (const Index sibling : pools_[worker.pool].launch_configs) {
      const LaunchConfigState& other = launch_configs_[sibling];
      // The placement of a declared machine does not come from configurations.
      if (other.status != LaunchConfigStatus::archived && other.provider == own.provider &&
          (worker.declared() ||
           other.spec->launch_config.placement == own.spec->launch_config.placement))
        return sibling;
    }
  return worker.launch_config;
}

// -------------------------------------------------------------------------------------------------
// Providers

void Registry::provider_trouble(Index index, const std::string& what, Time now) {
  ProviderState& provider = providers_[index];
  if (provider.trouble_since == Time{}) provider.trouble_since = now;
  provider.trouble = what;
}

void Registry::provider_fine(Index index) {
  providers_[index].trouble_since = Time{};
  providers_[index].trouble.clear();
}

void Registry::list_by(Index index, Time at) {
  providers_[index].list_at = std::min(providers_[index].list_at, at);
}

}  // namespace muster::fleet
