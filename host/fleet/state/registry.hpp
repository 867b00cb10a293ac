// The pools, launch configurations and providers of the fleet, and the names of worker groups:
// found by id, addressed by index. A slot of a pool or a provider is never used for another one; a
// slot of a launch configuration is, once nothing refers to it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/fleet/model/rows.hpp"
#include "host/fleet/model/state.hpp"
#include "host/fleet/state/protected_rows.hpp"
#include "host/store/store.hpp"

namespace muster::fleet {

// Slots that only the registry adds; everybody else changes what is in them.
template <class T>
class Slots {
 public:
  T& operator[](std::size_t index) { return values_[index]; }
  const T& operator[](std::size_t index) const { return values_[index]; }
  std::size_t size() const { return values_.size(); }
  auto begin() { return values_.begin(); }
  auto end() { return values_.end(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  const std::vector<T>& values() const { return values_; }

 private:
  friend class Registry;
  std::vector<T> values_;
};

class Registry {
 public:
  Slots<Pool>& pools() { return pools_; }
  Slots<LaunchConfigState>& launch_configs() { return launch_configs_; }
  Slots<ProviderState>& providers() { return providers_; }
  const Slots<Pool>& pools() const { return pools_; }
  const Slots<LaunchConfigState>& launch_configs() const { return launch_configs_; }
  const Slots<ProviderState>& providers() const { return providers_; }
  // In the order of their ids.
  const std::map<WorkerPoolId, Index>& pool_indices() const { return pool_index_; }

  // Adds what is not there yet. References into the slots of its kind do not survive that.
  Index index_of_pool(const WorkerPoolId& id);
  Index index_of_provider(const ProviderId& id);
  Index index_of_group(const std::string& name);
  Index add_launch_config(Index pool, std::shared_ptr<const LaunchConfigSpec> spec, Time created);

  // no_index: there is none.
  Index find_pool_index(const WorkerPoolId& id) const;
  Index find_provider(const ProviderId& id) const;
  Index find_launch_config(const Pool& pool, const LaunchConfigId& id) const;
  const Pool* find_pool(const WorkerPoolId& id) const;
  const std::string& group_name(Index group) const { return groups_[group]; }

  static void set_spec(LaunchConfigState& launch_config,
                       std::shared_ptr<const LaunchConfigSpec> spec);
  // Its slot may be another's then. The caller takes it out of the list of its pool.
  void remove_launch_config(Index launch_config);
  void remove_pool(Index pool);

  // The times of a worker's life in its pool.
  const Lifecycle& lifecycle_of(const Worker& worker) const;
  // How much capacity may be launched from it now within all limits. `confirmed`: how much of what
  // is there may be kept; what only the store says to be there is no reason to end what is there.
  enum class Counted { all, confirmed };
  std::int64_t capacity_room(Index pool, Index launch_config, Counted counted = Counted::all) const;
  // The launch configuration for a declared machine: the only one of that provider in the pool.
  Result<Index> place_of(const WorkerPoolId& pool, const ProviderId& provider) const;
  // The launch configuration that replaced the worker's own, if that is archived; else its own.
  Index newest_launch_config(const Worker& worker) const;

  // What rows that cannot be read may stand for. It counts in capacity_room().
  const ProtectedRows& protected_rows() const { return protected_rows_; }
  void protect(ProtectedRows rows) { protected_rows_ = std::move(rows); }

  void provider_fine(Index provider);
  void provider_trouble(Index provider, const std::string& what, Time now);
  // The next listing is due then, or earlier.
  void list_by(Index provider, Time at);

  // Rows: what was touched is written once.
  void touch(Index launch_config);
  void touch_pool(Index pool) { dirty_pools_.push_back(pool); }
  void write_rows(store::Batch& out);
  void write_everything(store::Batch& out) const;
  Result<void> load(const store::Store& store);

 private:
  LaunchConfigRow row_of(const LaunchConfigState& launch_config) const;
  static PoolRow row_of(const Pool& pool);
  Result<void> load_pools(const store::Store& store);
  Result<void> load_launch_configs(const store::Store& store);

  Slots<Pool> pools_;
  std::map<WorkerPoolId, Index> pool_index_;
  Slots<LaunchConfigState> launch_configs_;
  std::vector<Index> free_launch_configs_;
  Slots<ProviderState> providers_;
  std::map<ProviderId, Index> provider_index_;
  std::vector<std::string> groups_;
  std::map<std::string, Index, std::less<>> group_index_;
  std::vector<Index> dirty_launch_configs_;
  std::vector<Index> dirty_pools_;
  ProtectedRows protected_rows_;
};

}  // namespace muster::fleet
