// The rows of pools and launch configurations.
#include <algorithm>

#include <muster/codec.hpp>

#include "host/fleet/model/spec_json.hpp"
#include "host/fleet/state/registry.hpp"
#include "host/identifiers/identifiers.hpp"
#include "host/store/row.hpp"

namespace muster::fleet {
namespace {

// A name without a slash can come from no API and no file, and does no harm.
bool may_be_pool(const WorkerPoolId& id) {
  return identifiers::is_worker_pool_id(id.str()) || identifiers::is_name(id.str());
}

}  // namespace

LaunchConfigRow Registry::row_of(const LaunchConfigState& launch_config) const {
  return {.worker_pool_id = pools_[launch_config.pool].id,
          .launch_config_id = launch_config.spec->launch_config.launch_config_id,
          .provider_id = launch_config.spec->provider_id,
          .status = launch_config.status,
          .paused_until = store::known_time(launch_config.paused_until),
          .pause_reason = launch_config.pause_reason,
          .created = launch_config.created,
          .archived = store::known_time(launch_config.archived),
          .on_probation = launch_config.on_probation,
          .spec = codec::to_value(*launch_config.spec).as_object(),
          .health = launch_config.health.to_json()};
}

PoolRow Registry::row_of(const Pool& pool) {
  PoolRow row{.worker_pool_id = pool.id, .spec = {}, .history = {}};
  if (pool.created != Time{}) row.created = pool.created;
  if (pool.last_modified != Time{}) row.last_modified = pool.last_modified;
  if (pool.spec) row.spec = to_json(*pool.spec);
  for (const HistoryPoint& point : pool.history) row.history.push_back(codec::to_value(point));
  return row;
}

void Registry::touch(Index index) {
  LaunchConfigState& launch_config = launch_configs_[index];
  if (launch_config.dirty) return;
  launch_config.dirty = true;
  dirty_launch_configs_.push_back(index);
}

void Registry::write_rows(store::Batch& out) {
  for (const Index index : dirty_launch_configs_) {
    LaunchConfigState& launch_config = launch_configs_[index];
    launch_config.dirty = false;
    if (!launch_config.removed()) out.emplace_back(store::put(row_of(launch_config)));
  }
  dirty_launch_configs_.clear();
  std::ranges::sort(dirty_pools_);
  const auto [repeated, end] = std::ranges::unique(dirty_pools_);
  dirty_pools_.erase(repeated, end);
  for (const Index index : dirty_pools_)
    if (!pools_[index].removed()) out.emplace_back(store::put(row_of(pools_[index])));
  dirty_pools_.clear();
}

void Registry::write_everything(store::Batch& out) const {
  for (const Pool& pool : pools_)
    if (!pool.removed()) out.emplace_back(store::put(row_of(pool)));
  for (const LaunchConfigState& launch_config : launch_configs_)
    if (!launch_config.removed()) out.emplace_back(store::put(row_of(launch_config)));
}

// -------------------------------------------------------------------------------------------------
// Back from the store

Result<void> Registry::load(const store::Store& store) {
  if (const auto read = load_pools(store); !read) return read;
  return load_launch_configs(store);
}

Result<void> Registry::load_pools(const store::Store& store) {
  return store::read_rows<PoolRow>(store, [&](const PoolRow& row) -> Result<void> {
    if (!may_be_pool(row.worker_pool_id))
      return Error::invalid("its workerPoolId is not " +
                            std::string(identifiers::worker_pool_id.words));
    std::shared_ptr<const PoolSpec> spec;
    if (!row.spec.empty()) {
      auto read = pool_spec_from_json(row.spec);
      if (!read) return read.error();
      spec = std::make_shared<const PoolSpec>(std::move(*read));
    }
    Pool& pool = pools_[index_of_pool(row.worker_pool_id)];
    for (const json::value& point : row.history)
      if (auto decoded = from_value<HistoryPoint>(point)) pool.history.push_back(*decoded);
    pool.created = row.created.value_or(Time{});
    pool.last_modified = row.last_modified.value_or(Time{});
    pool.spec = std::move(spec);
    return {};
  });
}

Result<void> Registry::load_launch_configs(const store::Store& store) {
  std::map<Index, std::vector<std::shared_ptr<const LaunchConfigSpec>>> current;
  const ProtectedRows unread(store.set_aside());
  auto read = store::read_rows<LaunchConfigRow>(store, [&](LaunchConfigRow row) -> Result<void> {
    // A row whose key was spoilt may be the one of this pool.
    const bool orphan = unread.has_pools() && find_pool_index(row.worker_pool_id) == no_index;
    if (orphan || unread.has_pool(row.worker_pool_id))
      return Error::invalid("the row of its pool " + row.worker_pool_id.str() + " is set aside");
    auto spec = from_value<LaunchConfigSpec>(json::value(std::move(row.spec)));
    if (!spec) return spec.error();
    const Index pool = index_of_pool(row.worker_pool_id);
    const Index index = add_launch_config(
        pool, std::make_shared<const LaunchConfigSpec>(std::move(*spec)), row.created);
    LaunchConfigState& launch_config = launch_configs_[index];
    launch_config.status = row.status;
    launch_config.paused_until = row.paused_until.value_or(Time{});
    launch_config.pause_reason = std::move(row.pause_reason);
    launch_config.archived = row.archived.value_or(Time{});
    launch_config.on_probation = row.on_probation;
    launch_config.health = bidding::Health::from_json(row.health);
    if (row.status != LaunchConfigStatus::archived)
      current[pool].push_back(launch_config.spec);
    else if (!pools_[pool].spec)
      launch_config.outdated = "its pool is no longer configured";
    return {};
  });
  if (!read) return read;
  for (auto& [pool, specs] : current) {
    if (!pools_[pool].spec) continue;
    auto whole = std::make_shared<PoolSpec>(*pools_[pool].spec);
    whole->launch_configs = std::move(specs);
    pools_[pool].spec = whole;
  }
  return {};
}

}  // namespace muster::fleet
