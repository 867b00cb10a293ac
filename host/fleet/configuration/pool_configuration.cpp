#include "host/fleet/configuration/pool_configuration.hpp"

#include <algorithm>
#include <utility>

#include <muster/codec.hpp>

#include "host/fleet/model/spec_json.hpp"
#include "host/store/row.hpp"

namespace muster::fleet {
namespace {

constexpr std::size_t most_api_pools = 10'000;
constexpr std::size_t most_document_bytes = std::size_t{1} << 20;  // of one of them

bool same_content(const LaunchConfigSpec& a, const LaunchConfigSpec& b) {
  return &a == &b ||
         (a.max_capacity == b.max_capacity && a.initial_weight == b.initial_weight &&
          a.worker_config == b.worker_config && a.provider_id == b.provider_id &&
          a.launch_config.document == b.launch_config.document &&
          a.launch_config.capacity_per_instance == b.launch_config.capacity_per_instance);
}

// For the event: who served the pool before, if somebody else does now.
json::object change_of_provider(const PoolSpec& before, const PoolSpec& after) {
  if (before.providers.empty()) return {};
  const ProviderId& previous = before.providers.front();
  if (!after.providers.empty() && after.providers.front() == previous) return {};
  return {{"previousProviderId", previous.str()}};
}

}  // namespace

void PoolConfiguration::configure(const Configuration& configuration) {
  for (const auto& [id, classes] : configuration.field_classes) {
    ProviderState& provider = providers_[registry_.index_of_provider(id)];
    provider.field_classes = classes;
    provider.classes_known = true;
  }
  for (const auto& [id, spec] : configuration.pools) {
    const Index pool = registry_.index_of_pool(id);
    const bool is_new = !pools_[pool].spec;
    take_pool(pool, with_unasked(pools_[pool], spec));
    if (is_new) report_dead_providers(pools_[pool], *spec);
  }
  for (Index at = 0; at < pools_.size(); ++at)
    if (!pools_[at].removed() && !configuration.pools.contains(pools_[at].id)) {
      const auto made = api_pools_.find(pools_[at].id);
      if (made != api_pools_.end())
        take_pool(at, made->second);
      else if (pools_[at].spec &&
               !configuration.untouched_origins.contains(pools_[at].spec->origin))
        drop_pool(at);
    }
  link_.configure_pools();
}

// A pool that was there already was told when the provider went down.
void PoolConfiguration::report_dead_providers(const Pool& pool, const PoolSpec& spec) {
  for (const ProviderId& id : spec.unasked_providers) {
    const ProviderState& provider = providers_[registry_.index_of_provider(id)];
    if (!provider.up && !provider.trouble.empty())
      outbox_.pool_error(pool, "provider-error", "provider " + id.str() + " does not run",
                         provider.trouble, {{"providerId", id.str()}});
  }
}

// A provider that does not answer has not given up its machines: until it can be asked again, the
// pool keeps the launch configurations that it has of it.
std::shared_ptr<const PoolSpec> PoolConfiguration::with_unasked(
    const Pool& pool, const std::shared_ptr<const PoolSpec>& spec) const {
  if (spec->unasked_providers.empty()) return spec;
  auto whole = std::make_shared<PoolSpec>(*spec);
  for (const Index at : pool.launch_configs)
    if (launch_configs_[at].status != LaunchConfigStatus::archived &&
        std::ranges::find(spec->unasked_providers, launch_configs_[at].spec->provider_id) !=
            spec->unasked_providers.end())
      whole->launch_configs.push_back(launch_configs_[at].spec);
  whole->unasked_providers.clear();
  return whole;
}

// The event of the pool comes before those of what it consists of: kept, new, gone.
void PoolConfiguration::take_pool(Index index, const std::shared_ptr<const PoolSpec>& spec,
                                  Report report) {
  if (pools_[index].spec == spec) return;
  const LaunchConfigChanges changes = changes_of(pools_[index], *spec);
  const auto before = std::exchange(pools_[index].spec, spec);
  const std::string by = "configured by " + (spec->origin.empty() ? "the API" : spec->origin);
  const bool changed =
      changes.any() || !before || report == Report::all || to_json(*before) != to_json(*spec);
  if (!before)
    outbox_.emit_event("worker-pool-created", pools_[index], by);
  else if (changed)
    outbox_.emit_event("worker-pool-updated", pools_[index], by,
                       change_of_provider(*before, *spec));
  for (const auto& [known, launch_config] : changes.kept)
    keep_launch_config(known, launch_config, report);
  const auto pause = pause_of(pools_[index]);
  for (const auto& launch_config : changes.created) {
    create_launch_config(index, launch_config);
    if (!pause) continue;
    const LaunchConfigId& id = launch_config->launch_config.launch_config_id;
    const Index created = registry_.find_launch_config(pools_[index], id);
    // In a pool that comes back, one that was there before has its own pause.
    if (before || launch_configs_[created].status != LaunchConfigStatus::paused)
      (void)this->pause(pools_[index].id, id, pause->first, pause->second);
  }
  for (const Index at : changes.archived) archive(at);
  Pool& pool = pools_[index];
  pool.fault.clear();
  if (changed) {
    registry_.touch_pool(index);
    pool.last_modified = clock_.now();
    if (!before) pool.created = clock_.now();
    outbox_.journal(pool, "configuration",
                    std::to_string(spec->launch_configs.size()) +
                        " launch configurations: " + std::to_string(changes.created.size()) +
                        " new, " + std::to_string(changes.archived.size()) + " archived",
                    {{"origin", spec->origin}, {"settings", codec::to_value(spec->settings)}}, {});
  }
  if (!changes.created.empty()) machines_.list_refused(pool);
  renewal_.judge_conformance(index);
  for (const Index at : pool.workers) table_.set_timer(at);  // its times may have changed
  agenda_.wake(index, true);
}

// One that is active again counts as created.
PoolConfiguration::LaunchConfigChanges PoolConfiguration::changes_of(const Pool& pool,
                                                                     const PoolSpec& spec) const {
  LaunchConfigChanges changes;
  std::vector<LaunchConfigId> ids;
  for (const auto& launch_config : spec.launch_configs) {
    const LaunchConfigId& id = launch_config->launch_config.launch_config_id;
    ids.push_back(id);
    const Index known = registry_.find_launch_config(pool, id);
    if (known == no_index || launch_configs_[known].status == LaunchConfigStatus::archived) {
      changes.created.push_back(launch_config);
      continue;
    }
    changes.kept.emplace_back(known, launch_config);
    changes.updated |= !same_content(*launch_configs_[known].spec, *launch_config);
  }
  std::ranges::sort(ids);
  for (const Index at : pool.launch_configs)
    if (launch_configs_[at].status != LaunchConfigStatus::archived &&
        !std::ranges::binary_search(ids, launch_configs_[at].spec->launch_config.launch_config_id))
      changes.archived.push_back(at);
  return changes;
}

void PoolConfiguration::keep_launch_config(Index known,
                                           const std::shared_ptr<const LaunchConfigSpec>& spec,
                                           Report report) {
  LaunchConfigState& launch_config = launch_configs_[known];
  const bool same = same_content(*launch_config.spec, *spec);
  Registry::set_spec(launch_config, spec);
  if (!same) registry_.touch(known);
  if (!same || report == Report::all)
    outbox_.emit_event("launch-configuration-updated", launch_config,
                       same ? "kept" : "changed in what may change");
}

void PoolConfiguration::create_launch_config(Index pool,
                                             const std::shared_ptr<const LaunchConfigSpec>& spec) {
  const Index known =
      registry_.find_launch_config(pools_[pool], spec->launch_config.launch_config_id);
  if (known == no_index) {
    const Index added = registry_.add_launch_config(pool, spec, clock_.now());
    registry_.touch(added);
    outbox_.emit_event("launch-configuration-created", launch_configs_[added], "new");
    return;
  }
  LaunchConfigState& launch_config = launch_configs_[known];
  Registry::set_spec(launch_config, spec);
  registry_.touch(known);
  const bool paused = launch_config.paused_until > clock_.now();  // a pause by an operator stays
  launch_config.status = paused ? LaunchConfigStatus::paused : LaunchConfigStatus::active;
  if (!paused) launch_config.paused_until = Time{};
  launch_config.archived = Time{};
  launch_config.outdated.reset();
  outbox_.emit_event("launch-configuration-created", launch_config, "produced again");
}

void PoolConfiguration::archive(Index index) {
  LaunchConfigState& launch_config = launch_configs_[index];
  launch_config.status = LaunchConfigStatus::archived;
  launch_config.archived = clock_.now();
  registry_.touch(index);
  outbox_.emit_event("launch-configuration-archived", launch_config, "no longer produced");
}

// A pool that is no longer configured: nothing new, and those that run end as outdated ones do.
void PoolConfiguration::drop_pool(Index index) {
  for (const Index at : pools_[index].launch_configs)
    if (launch_configs_[at].status != LaunchConfigStatus::archived) archive(at);
  Pool& pool = pools_[index];
  outbox_.emit_event("worker-pool-removed", pool, "no longer configured; its workers drain");
  pool.spec.reset();
  pool.fault.clear();
  pool.want = pool.surplus = 0;
  registry_.touch_pool(index);
  pool.last_modified = clock_.now();
  outbox_.journal(pool, "configuration",
                  "the pool is no longer configured; its " + std::to_string(pool.workers.size()) +
                      " workers drain",
                  {}, {});
  renewal_.judge_conformance(index);
  for (const Index at : pool.workers) table_.set_timer(at);
  agenda_.wake(index, true);
}

// Archived launch configurations live as long as workers of theirs, pools as long as launch
// configurations.
void PoolConfiguration::expire() {
  for (Index at = 0; at < pools_.size(); ++at) {
    Pool& pool = pools_[at];
    if (pool.removed()) continue;
    std::erase_if(pool.launch_configs, [&](Index index) {
      const LaunchConfigState& launch_config = launch_configs_[index];
      if (launch_config.status != LaunchConfigStatus::archived || launch_config.rows > 0)
        return false;
      outbox_.change(store::erase<LaunchConfigRow>(
          {pool.id.str(), launch_config.spec->launch_config.launch_config_id.str()}));
      if (launch_config.times)
        outbox_.change(store::erase<TimesRow>(
            {pool.id.str(), launch_config.spec->launch_config.launch_config_id.str()}));
      registry_.remove_launch_config(index);
      return true;
    });
    if (!pool.launch_configs.empty() || !agenda_.is_quiet(at)) continue;
    if (pool.spec && pool.spec->origin.empty() && pool.spec->providers.empty() &&
        api_pools_.erase(pool.id) > 0) {  // its owner has given it to no provider: all is over
      api_rows_.erase(pool.id);
      outbox_.change(store::erase<ApiPoolRow>({pool.id.str()}));
      outbox_.emit_event("worker-pool-removed", pool,
                         "no provider serves it and its workers are gone");
      pool.spec.reset();
    }
    if (pool.spec) continue;
    outbox_.change(store::erase<PoolRow>({pool.id.str()}));
    registry_.remove_pool(at);
  }
}

// -------------------------------------------------------------------------------------------------
// Pools of the API

Result<void> PoolConfiguration::put(const std::shared_ptr<const PoolSpec>& spec,
                                    json::object document) {
  if (auto refused = refuse_file_pool(spec->worker_pool_id)) return *refused;
  if (const std::size_t bytes = json::write(document).size(); bytes > most_document_bytes)
    return Error::invalid("the document of worker pool " + spec->worker_pool_id.str() + " has " +
                          std::to_string(bytes) + " bytes; at most " +
                          std::to_string(most_document_bytes) + " are possible");
  if (!api_pools_.contains(spec->worker_pool_id) && api_pools_.size() >= most_api_pools)
    return Error::invalid("there are " + std::to_string(most_api_pools) +
                          " worker pools of the API, which is the most; delete one, or configure "
                          "this one in a file");
  api_pools_.insert_or_assign(spec->worker_pool_id, spec);
  ApiPoolRow& row = api_rows_[spec->worker_pool_id];
  row.worker_pool_id = spec->worker_pool_id;
  row.document = std::move(document);
  if (row.created == Time{}) row.created = clock_.now();
  row.last_modified = clock_.now();
  outbox_.change(store::put(row));
  take_pool(registry_.index_of_pool(spec->worker_pool_id), spec, Report::all);
  return {};
}

Result<void> PoolConfiguration::remove(const WorkerPoolId& pool) {
  if (auto refused = refuse_file_pool(pool)) return *refused;
  if (api_pools_.erase(pool) == 0) return Error::not_found("there is no worker pool " + pool.str());
  api_rows_.erase(pool);
  outbox_.change(store::erase<ApiPoolRow>({pool.str()}));
  drop_pool(registry_.index_of_pool(pool));
  return {};
}

const ApiPoolRow* PoolConfiguration::find(const WorkerPoolId& id) const {
  const auto found = api_rows_.find(id);
  return found == api_rows_.end() ? nullptr : &found->second;
}

std::optional<Error> PoolConfiguration::refuse_file_pool(const WorkerPoolId& id) const {
  const Pool* pool = registry_.find_pool(id);
  if (!pool || !pool->spec || pool->spec->origin.empty()) return std::nullopt;
  return Error::invalid("worker pool " + id.str() + " comes from " + pool->spec->origin +
                        ": edit it there");
}

void PoolConfiguration::write_everything(store::Batch& out) const {
  for (const auto& [id, row] : api_rows_) out.emplace_back(store::put(row));
}

Result<void> PoolConfiguration::load(const store::Store& store) {
  const auto read = store::read_rows<ApiPoolRow>(store, [&](const ApiPoolRow& row) {
    const Pool* pool = registry_.find_pool(row.worker_pool_id);
    api_rows_[row.worker_pool_id] = row;
    if (pool && pool->spec) api_pools_[row.worker_pool_id] = pool->spec;
  });
  // A pool whose definition cannot be read stays as it is: no configuration drops it.
  const ProtectedRows unread(store.set_aside());
  for (const Pool& pool : pools_)
    if (!pool.removed() && pool.spec && pool.spec->origin.empty() && unread.has_pool(pool.id))
      api_pools_.try_emplace(pool.id, pool.spec);
  return read;
}

// -------------------------------------------------------------------------------------------------
// Pauses

Result<void> PoolConfiguration::pause(const WorkerPoolId& pool, const LaunchConfigId& id,
                                      Time until, const std::string& reason) {
  const auto index = active_launch_config(pool, id);
  if (!index) return index.error();
  if (until <= clock_.now())
    return Error::invalid("a pause must end in the future, not at " + format_time(until));
  LaunchConfigState& launch_config = launch_configs_[*index];
  launch_config.status = LaunchConfigStatus::paused;
  launch_config.paused_until = until;
  launch_config.pause_reason = reason;
  registry_.touch(*index);
  outbox_.emit_event("launch-configuration-paused", launch_config,
                     "until " + format_time(until) + (reason.empty() ? "" : ": " + reason));
  agenda_.set_timer(launch_config.pool, until);
  agenda_.wake(launch_config.pool);
  return {};
}

// Of a pool none of whose launch configurations may launch: new ones begin with the pause that ends
// last. If all are archived, as of a pool that comes back, those count that were the last to go.
std::optional<std::pair<Time, std::string>> PoolConfiguration::pause_of(const Pool& pool) const {
  const auto is_archived = [&](Index at) {
    return launch_configs_[at].status == LaunchConfigStatus::archived;
  };
  const bool all_archived = std::ranges::all_of(pool.launch_configs, is_archived);
  Time last{};
  for (const Index at : pool.launch_configs) last = std::max(last, launch_configs_[at].archived);
  std::optional<std::pair<Time, std::string>> pause;
  for (const Index at : pool.launch_configs) {
    const LaunchConfigState& each = launch_configs_[at];
    if (is_archived(at) && (!all_archived || each.archived != last)) continue;
    const bool paused = each.paused_until > clock_.now();
    if (each.status == LaunchConfigStatus::active || (all_archived && !paused)) return std::nullopt;
    if (paused && (!pause || each.paused_until > pause->first))
      pause.emplace(each.paused_until, each.pause_reason);
  }
  return pause;
}

Result<void> PoolConfiguration::resume(const WorkerPoolId& pool, const LaunchConfigId& id) {
  const auto index = active_launch_config(pool, id);
  if (!index) return index.error();
  end_pause(*index, "by an operator");
  return {};
}

void PoolConfiguration::end_pauses(Index pool) {
  for (const Index at : pools_[pool].launch_configs) {
    if (launch_configs_[at].status != LaunchConfigStatus::paused) continue;
    if (launch_configs_[at].paused_until <= clock_.now())
      end_pause(at, "the pause is over");
    else
      agenda_.set_timer(pool, launch_configs_[at].paused_until);
  }
}

void PoolConfiguration::end_pause(Index index, const char* why) {
  LaunchConfigState& launch_config = launch_configs_[index];
  if (launch_config.status != LaunchConfigStatus::paused) return;
  launch_config.status = LaunchConfigStatus::active;
  launch_config.paused_until = Time{};
  launch_config.pause_reason.clear();
  registry_.touch(index);
  outbox_.emit_event("launch-configuration-resumed", launch_config, why);
  agenda_.wake(launch_config.pool);
}

Result<Index> PoolConfiguration::active_launch_config(const WorkerPoolId& id,
                                                      const LaunchConfigId& wanted) const {
  const Pool* pool = registry_.find_pool(id);
  if (!pool) return Error::not_found("there is no worker pool " + id.str());
  const Index index = registry_.find_launch_config(*pool, wanted);
  if (index == no_index)
    return Error::not_found("worker pool " + id.str() + " has no launch configuration " +
                            wanted.str());
  if (launch_configs_[index].status == LaunchConfigStatus::archived)
    return Error::invalid("launch configuration " + wanted.str() +
                          " is archived: nothing is launched from it");
  return index;
}

}  // namespace muster::fleet
