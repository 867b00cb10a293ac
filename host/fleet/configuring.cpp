// What the fleet should look like, and how it gets there: launch configurations come and go,
// workers that no longer conform are told to end.
#include <algorithm>
#include <utility>

#include <muster/codec.hpp>

#include "host/fleet/changing.hpp"
#include "host/fleet/lifecycle/conformance.hpp"
#include "host/fleet/lifecycle/cycling.hpp"
#include "host/fleet/model/sanitize.hpp"
#include "host/fleet/model/spec_json.hpp"
#include "host/store/row.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;

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

PoolRow Fleet::row_of(const Pool& pool) const {
  PoolRow row{.worker_pool_id = pool.id, .spec = {}, .history = {}};
  if (pool.created != Time{}) row.created = pool.created;
  if (pool.last_modified != Time{}) row.last_modified = pool.last_modified;
  if (pool.spec) row.spec = to_json(*pool.spec);
  for (const HistoryPoint& point : pool.history) row.history.push_back(codec::to_value(point));
  return row;
}

Index Fleet::find_launch_config(const Pool& pool, const LaunchConfigId& id) const {
  for (const Index at : pool.launch_configs)
    if (launch_configs_[at].spec->launch_config.launch_config_id == id) return at;
  return no_index;
}

// -------------------------------------------------------------------------------------------------
// Pools

void Fleet::configure(const std::shared_ptr<const Configuration>& configuration, Now now) {
  begin(now);
  configuration_ = configuration;
  for (const auto& [id, classes] : configuration->field_classes) {
    ProviderState& provider = providers_[index_of_provider(id)];
    provider.field_classes = classes;
    provider.classes_known = true;
  }
  for (const auto& [id, spec] : configuration->pools) take_pool(index_of_pool(id), spec);
  for (Index at = 0; at < pools_.size(); ++at)
    if (!pools_[at].removed() && !configuration->pools.contains(pools_[at].id)) {
      const auto made = api_pools_.find(pools_[at].id);
      if (made != api_pools_.end())
        take_pool(at, made->second);
      else if (pools_[at].spec)
        drop_pool(at);
    }
  tell_queue_of_pools();
}

void Fleet::take_pool(Index index, const std::shared_ptr<const PoolSpec>& spec) {
  if (pools_[index].spec == spec) return;
  const auto before = std::exchange(pools_[index].spec, spec);
  const std::string by = "configured by " + (spec->origin.empty() ? "the API" : spec->origin);
  if (!before) emit_event("worker-pool-created", pools_[index], by);  // before what it consists of
  std::vector<LaunchConfigId> ids;
  std::int64_t created = 0, updated = 0, archived = 0;
  for (const auto& launch_config : spec->launch_configs) {
    ids.push_back(launch_config->launch_config.launch_config_id);
    const Taken taken = take_launch_config(index, launch_config);
    created += taken == Taken::created;
    updated += taken == Taken::updated;
  }
  std::ranges::sort(ids);
  for (const Index at : pools_[index].launch_configs)
    if (launch_configs_[at].status != LaunchConfigStatus::archived &&
        !std::ranges::binary_search(ids,
                                    launch_configs_[at].spec->launch_config.launch_config_id)) {
      archive(at);
      ++archived;
    }
  Pool& pool = pools_[index];
  if (created + updated + archived > 0 || !before || to_json(*before) != to_json(*spec)) {
    dirty_pools_.push_back(index);
    pool.last_modified = now_.wall;
    if (!before) pool.created = now_.wall;
    if (before) emit_event("worker-pool-updated", pool, by, change_of_provider(*before, *spec));
    journal(pool, "configuration",
            std::to_string(spec->launch_configs.size()) + " launch configurations: " +
                std::to_string(created) + " new, " + std::to_string(archived) + " archived",
            {{"origin", spec->origin}, {"settings", codec::to_value(spec->settings)}}, {});
  }
  if (created > 0) list_refused(pool);
  judge_conformance(index);
  for (const Index at : pool.workers) set_timer(at);  // its times may have changed
  wake(index, true);
}

void Fleet::take_spec(LaunchConfigState& launch_config,
                      std::shared_ptr<const LaunchConfigSpec> spec) {
  launch_config.promised = promised_by(*spec);
  launch_config.spec = std::move(spec);
}

// One that is active again counts as created.
Fleet::Taken Fleet::take_launch_config(Index pool,
                                       const std::shared_ptr<const LaunchConfigSpec>& spec) {
  const Index known = find_launch_config(pools_[pool], spec->launch_config.launch_config_id);
  if (known != no_index) {
    LaunchConfigState& launch_config = launch_configs_[known];
    const bool was_archived = launch_config.status == LaunchConfigStatus::archived;
    if (!was_archived && same_content(*launch_config.spec, *spec)) {
      take_spec(launch_config, spec);
      return Taken::unchanged;
    }
    take_spec(launch_config, spec);
    touch(known);
    if (!was_archived) {
      emit_event("launch-configuration-updated", launch_config, "changed in what may change");
      return Taken::updated;
    }
    const bool paused = launch_config.paused_until > now_.wall;  // an operator's word outlasts it
    launch_config.status = paused ? LaunchConfigStatus::paused : LaunchConfigStatus::active;
    if (!paused) launch_config.paused_until = Time{};
    launch_config.archived = Time{};
    launch_config.outdated.reset();
    emit_event("launch-configuration-created", launch_config, "produced again");
    return Taken::created;
  }
  Index index = static_cast<Index>(launch_configs_.size());
  if (free_launch_configs_.empty()) {
    launch_configs_.emplace_back();
  } else {
    index = free_launch_configs_.back();
    free_launch_configs_.pop_back();
  }
  const Index provider = index_of_provider(spec->provider_id);
  LaunchConfigState& launch_config = launch_configs_[index];
  launch_config = LaunchConfigState{};
  take_spec(launch_config, spec);
  launch_config.pool = pool;
  launch_config.provider = provider;
  launch_config.created = now_.wall;
  pools_[pool].launch_configs.push_back(index);
  touch(index);
  emit_event("launch-configuration-created", launch_config, "new");
  return Taken::created;
}

void Fleet::archive(Index index) {
  LaunchConfigState& launch_config = launch_configs_[index];
  launch_config.status = LaunchConfigStatus::archived;
  launch_config.archived = now_.wall;
  touch(index);
  emit_event("launch-configuration-archived", launch_config, "no longer produced");
}

// A pool that is no longer configured: nothing new, and those that run end as outdated ones do.
void Fleet::drop_pool(Index index) {
  for (const Index at : pools_[index].launch_configs)
    if (launch_configs_[at].status != LaunchConfigStatus::archived) archive(at);
  Pool& pool = pools_[index];
  emit_event("worker-pool-removed", pool, "no longer configured; its workers drain");
  pool.spec.reset();
  pool.want = pool.surplus = 0;
  dirty_pools_.push_back(index);
  pool.last_modified = now_.wall;
  journal(pool, "configuration",
          "the pool is no longer configured; its " + std::to_string(pool.workers.size()) +
              " workers drain",
          {}, {});
  judge_conformance(index);
  for (const Index at : pool.workers) set_timer(at);
  wake(index, true);
}

// Archived launch configurations live as long as workers of theirs, pools as long as launch
// configurations.
void Fleet::expire_pools() {
  for (Index at = 0; at < pools_.size(); ++at) {
    Pool& pool = pools_[at];
    if (pool.removed()) continue;
    std::erase_if(pool.launch_configs, [&](Index index) {
      LaunchConfigState& launch_config = launch_configs_[index];
      if (launch_config.status != LaunchConfigStatus::archived || launch_config.rows > 0)
        return false;
      outcome_.changes.emplace_back(store::erase<LaunchConfigRow>(
          {pool.id.str(), launch_config.spec->launch_config.launch_config_id.str()}));
      if (launch_config.times)
        outcome_.changes.emplace_back(store::erase<TimesRow>(
            {pool.id.str(), launch_config.spec->launch_config.launch_config_id.str()}));
      launch_config = LaunchConfigState{};
      free_launch_configs_.push_back(index);
      return true;
    });
    if (!pool.launch_configs.empty() || pool.talk != BiddingPhase::quiet || pool.queued) continue;
    if (pool.spec && pool.spec->origin.empty() && pool.spec->providers.empty() &&
        api_pools_.erase(pool.id) > 0) {  // its owner has given it to no provider: all is over
      api_rows_.erase(pool.id);
      outcome_.changes.emplace_back(store::erase<ApiPoolRow>({pool.id.str()}));
      emit_event("worker-pool-removed", pool, "no provider serves it and its workers are gone");
      pool.spec.reset();
    }
    if (pool.spec) continue;
    outcome_.changes.emplace_back(store::erase<PoolRow>({pool.id.str()}));
    pool_index_.erase(pool.id);
    pool = Pool{};  // the slot stays empty: timers and calls may still name it
  }
}

Result<void> Fleet::put_api_pool(const std::shared_ptr<const PoolSpec>& spec, json::object document,
                                 Now now) {
  begin(now);
  if (auto refused = refuse_file_pool(spec->worker_pool_id)) return *refused;
  api_pools_.insert_or_assign(spec->worker_pool_id, spec);
  ApiPoolRow& row = api_rows_[spec->worker_pool_id];
  row.worker_pool_id = spec->worker_pool_id;
  row.document = std::move(document);
  if (row.created == Time{}) row.created = now.wall;
  row.last_modified = now.wall;
  outcome_.changes.emplace_back(store::put(row));
  take_pool(index_of_pool(spec->worker_pool_id), spec);
  return {};
}

Result<void> Fleet::remove_api_pool(const WorkerPoolId& pool, Now now) {
  begin(now);
  if (auto refused = refuse_file_pool(pool)) return *refused;
  if (api_pools_.erase(pool) == 0) return Error::not_found("there is no worker pool " + pool.str());
  api_rows_.erase(pool);
  outcome_.changes.emplace_back(store::erase<ApiPoolRow>({pool.str()}));
  drop_pool(index_of_pool(pool));
  return {};
}

const ApiPoolRow* Fleet::find_api_pool(const WorkerPoolId& id) const {
  const auto found = api_rows_.find(id);
  return found == api_rows_.end() ? nullptr : &found->second;
}

std::optional<Error> Fleet::refuse_file_pool(const WorkerPoolId& id) const {
  const Pool* pool = find_pool(id);
  if (!pool || !pool->spec || pool->spec->origin.empty()) return std::nullopt;
  return Error::invalid("worker pool " + id.str() + " comes from " + pool->spec->origin +
                        ": edit it there");
}

// -------------------------------------------------------------------------------------------------
// Providers

void Fleet::provider_up(const ProviderUp& up, Now now) {
  begin(now);
  const Index index = index_of_provider(up.provider_id);
  ProviderState& provider = providers_[index];
  const bool was_up = provider.up;
  provider.up = true;
  provider.settings = up.settings;
  provider.has_notices = up.has_notices;
  provider.declares_machines = up.declares_machines;
  provider_fine(index);
  const allocation::ThrottleSettings throttle{
      .launches_per_second = up.settings.launches_per_second,
      .burst = up.settings.launch_burst,
      .calls_at_once = up.settings.launch_calls_at_once};
  if (!was_up || throttle != provider.throttle.settings()) provider.throttle.change(throttle);
  if (!was_up) emit_event("provider-up", provider, "provider " + provider.id.str() + " answers");
  if (!was_up) provider.list_at = provider.notices_at = now.wall;  // what became of what is ours?
  provider.field_classes = up.field_classes;
  provider.classes_known = true;
  for (Index pool = 0; pool < pools_.size(); ++pool) {
    if (pools_[pool].removed()) continue;
    judge_conformance(pool);
    wake(pool);
  }
}

void Fleet::provider_down(const ProviderId& id, const std::string& why, Now now) {
  begin(now);
  const Index index = index_of_provider(id);
  if (providers_[index].up) emit_event("provider-down", providers_[index], why, {{"reason", why}});
  providers_[index].up = false;
  if (providers_[index].trouble_since == Time{}) providers_[index].trouble_since = now.wall;
  providers_[index].trouble = why;
  for (const Launchable& launchable : std::exchange(providers_[index].launchables, {}))
    give_up(launchable, "provider " + id.str() + " is not available: " + why);
}

// -------------------------------------------------------------------------------------------------
// Demand

void Fleet::demand_changed(const Demand& demand, Now now) {
  begin(now);
  for (Index at = 0; at < pools_.size(); ++at) {
    Pool& pool = pools_[at];
    if (pool.removed()) continue;
    const auto found = demand.find(pool.id);
    PoolDemand is = found == demand.end() ? PoolDemand{} : found->second;
    is.pending = clamp_capacity(is.pending);
    if (is.claimed) is.claimed = clamp_capacity(*is.claimed);
    is.note = shortened(std::move(is.note));
    pool.outside = std::move(is);
    add_up_demand(at);
  }
}

// -------------------------------------------------------------------------------------------------
// Outdated workers

// Once for each launch configuration, not for each worker.
void Fleet::judge_conformance(Index index) {
  Pool& pool = pools_[index];
  bool changed = false;
  for (const Index at : pool.launch_configs) {
    LaunchConfigState& launch_config = launch_configs_[at];
    std::optional<std::string> outdated;
    const ProviderState& provider = providers_[launch_config.provider];
    if (launch_config.status == LaunchConfigStatus::archived) {
      std::vector<const LaunchConfig*> current;
      for (const Index other : pool.launch_configs)
        if (launch_configs_[other].status != LaunchConfigStatus::archived &&
            launch_configs_[other].provider == launch_config.provider)
          current.push_back(&launch_configs_[other].spec->launch_config);
      // At a start the provider may not have said yet which changes matter.
      if (pool.spec && !current.empty() && !provider.classes_known) continue;
      outdated = pool.spec ? lifecycle::why_outdated(launch_config.spec->launch_config, current,
                                                     provider.field_classes)
                           : "its pool is no longer configured";
    }
    changed |= outdated != launch_config.outdated;
    launch_config.outdated = std::move(outdated);
  }
  if (changed) cycle(index);
}

// Tells outdated workers to end, as many as the budget allows and inside the windows: those that
// have not registered first, then idle ones, then the oldest. Whoever conforms again serves on.
void Fleet::cycle(Index index) {
  Pool& pool = pools_[index];
  std::vector<Index> back, unregistered;
  std::vector<std::tuple<bool, Time, Index>> outdated;
  for (const Index at : pool.workers) {
    const Worker& worker = workers_[at];
    const auto& why = launch_configs_[worker.launch_config].outdated;
    if (worker.drain == Drain::outdated && worker.state == WorkerState::running && !why)
      back.push_back(at);
    if (!why) continue;
    if (worker.state == WorkerState::requested) unregistered.push_back(at);
    if (worker.state == WorkerState::running &&
        (worker.drain == Drain::none || (worker.drain == Drain::surplus && worker.busy != 0)))
      outdated.emplace_back(worker.busy != 0, worker.created, at);
  }
  for (const Index at : back) end_drain(at, "its configuration came back");
  const Lifecycle life = pool.spec ? pool.spec->lifecycle : Lifecycle{};
  if (outdated.empty() && unregistered.empty()) return;
  if (!lifecycle::inside_window(life.cycling_windows, now_.wall))
    return set_pool_timer(index, lifecycle::next_window_edge(life.cycling_windows, now_.wall));
  for (const Index at : unregistered)
    stop(at,
         "outdated before it registered: " + *launch_configs_[workers_[at].launch_config].outdated);
  const auto workers = static_cast<std::int64_t>(pool.workers.size());
  std::int64_t room =
      lifecycle::cycling_room(life.cycling_budget, workers) - pool.outdated_draining;
  std::ranges::sort(outdated);
  std::int64_t told = 0;
  for (const auto& [busy, created, at] : outdated) {
    if (told >= room) break;
    start_drain(at, Drain::outdated, *launch_configs_[workers_[at].launch_config].outdated);
    ++told;
  }
  if (told > 0)
    journal(pools_[index], "lifecycle",
            "told " + std::to_string(told) + " of " + std::to_string(outdated.size()) +
                " outdated workers to end",
            {{"outdated", outdated.size()}, {"room", room}}, {});
}

// -------------------------------------------------------------------------------------------------
// Pauses

Result<void> Fleet::pause(const WorkerPoolId& pool, const LaunchConfigId& id, Time until,
                          const std::string& reason, Now now) {
  begin(now);
  const auto index = active_launch_config(pool, id);
  if (!index) return index.error();
  if (until <= now.wall)
    return Error::invalid("a pause must end in the future, not at " + format_time(until));
  LaunchConfigState& launch_config = launch_configs_[*index];
  launch_config.status = LaunchConfigStatus::paused;
  launch_config.paused_until = until;
  launch_config.pause_reason = reason;
  touch(*index);
  emit_event("launch-configuration-paused", launch_config,
             "until " + format_time(until) + (reason.empty() ? "" : ": " + reason));
  set_pool_timer(launch_config.pool, until);
  wake(launch_config.pool);
  return {};
}

Result<void> Fleet::resume(const WorkerPoolId& pool, const LaunchConfigId& id, Now now) {
  begin(now);
  const auto index = active_launch_config(pool, id);
  if (!index) return index.error();
  resumed(*index, "by an operator");
  return {};
}

void Fleet::resumed(Index index, const char* why) {
  LaunchConfigState& launch_config = launch_configs_[index];
  if (launch_config.status != LaunchConfigStatus::paused) return;
  launch_config.status = LaunchConfigStatus::active;
  launch_config.paused_until = Time{};
  launch_config.pause_reason.clear();
  touch(index);
  emit_event("launch-configuration-resumed", launch_config, why);
  wake(launch_config.pool);
}

Result<Index> Fleet::active_launch_config(const WorkerPoolId& id,
                                          const LaunchConfigId& wanted) const {
  const Pool* pool = find_pool(id);
  if (!pool) return Error::not_found("there is no worker pool " + id.str());
  const Index index = find_launch_config(*pool, wanted);
  if (index == no_index)
    return Error::not_found("worker pool " + id.str() + " has no launch configuration " +
                            wanted.str());
  if (launch_configs_[index].status == LaunchConfigStatus::archived)
    return Error::invalid("launch configuration " + wanted.str() +
                          " is archived: nothing is launched from it");
  return index;
}

}  // namespace muster::fleet
