// A worker's life: it registers, renews its credentials, works and drains.
#include <algorithm>

#include <muster/codec.hpp>

#include "host/fleet/changing.hpp"
#include "host/fleet/lifecycle/cycling.hpp"
#include "host/queue/queue.hpp"
#include "host/store/row.hpp"

namespace muster::fleet {
namespace {

Error no_longer_wanted(std::string message) {
  return Error::not_found(std::move(message)).with_code("gone");
}

}  // namespace

std::string in_words(const WorkerName& name) {
  return "worker " + name.worker_id.str() + " of " + name.worker_pool_id.str() + " in " +
         name.worker_group.str();
}

Result<Index> Fleet::known(const WorkerName& name) const {
  const Index index = lookup(name);
  if (index == no_index) return Error::not_found("there is no " + in_words(name));
  return index;
}

// -------------------------------------------------------------------------------------------------
// Registration

Result<Registered> Fleet::register_worker(const WorkerName& name, const ProviderId& provider,
                                          const Sha256& secret, Now now, const Proven& proven) {
  begin(now);
  const auto at = provider_index_.find(provider);
  if (at == provider_index_.end())
    return Error::not_found("there is no provider " + provider.str());
  if (proven.announced)
    if (const auto may = check_announced(name, provider, *proven.announced); !may)
      return may.error();
  if (proven.admission)
    if (const auto admitted = admit(at->second, name, *proven.admission); !admitted)
      return admitted.error();
  const Index index = lookup(at->second, name.worker_group.str(), name.worker_id.str());
  if (index == no_index || pools_[workers_[index].pool].id != name.worker_pool_id) {
    list_soon(at->second);  // its launch may have lost its answer
    return Error::not_found("there is no " + in_words(name) +
                            " yet; if it was launched a moment ago, try again soon");
  }
  const Worker& worker = workers_[index];
  if (has_expired(worker))
    return Error::invalid("Worker " + name.worker_group.str() + "/" + name.worker_id.str() +
                          " has expired");
  if (worker.state == WorkerState::stopping || worker.state == WorkerState::stopped)
    return no_longer_wanted(in_words(name) + " is to end: " + worker.reason);
  if (worker.announced()) stand_under_newest(index);
  const LaunchConfigState& launch_config = launch_configs_[worker.launch_config];
  if (worker.state == WorkerState::requested && launch_config.outdated) {
    const std::string why = *launch_config.outdated;
    stop(index, "outdated before it registered: " + why);
    return no_longer_wanted(in_words(name) + " is outdated: " + why);
  }
  if (worker.drain == Drain::outdated)
    return no_longer_wanted(in_words(name) + " is outdated: " + worker.reason);
  if (worker.announced() && launch_config.outdated)
    return no_longer_wanted(in_words(name) + " is outdated: " + *launch_config.outdated);
  const bool first = worker.registered == Time{};
  const bool was_away = worker.drain == Drain::absent || worker.drain == Drain::nonconformant ||
                        (worker.drain == Drain::interrupted && worker.announced());
  if (first) became_running(index);
  Registered registered = renew(index, secret, {});
  keep_announced(worker.number, proven.announced);
  if (was_away) end_drain(index, "it has registered");
  if (first || was_away)
    emit_event("worker-running", worker, first ? "registered" : "registered again",
               proven.claims.empty() ? json::object() : json::object{{"claims", proven.claims}});
  return registered;
}

void Fleet::became_running(Index index) {
  if (!workers_[index].announced()) measure_start(workers_[index]);
  {
    WorkerEdit worker(*this, index);
    if (worker->canary) canary_succeeded(*worker);
    worker->state = WorkerState::running;
    worker->phase = LaunchPhase::launched;
    worker->lost = false;
    worker->since = worker->registered = now_.wall;
    worker->attempts = 0;
    worker->reason = "registered";
  }
  Worker& worker = workers_[index];
  LaunchConfigState& launch_config = launch_configs_[worker.launch_config];
  launch_config.health.registered(now_.wall);
  launch_config.on_probation = false;
  touch(worker.launch_config);
  wake(worker.pool);
}

Registered Fleet::renew(Index index, const Sha256& secret, const Sha256& next_secret) {
  const Lifecycle& life = lifecycle_of(workers_[index]);
  WorkerEdit worker(*this, index);
  worker->credentials_expire = now_.wall + life.reregistration_timeout;
  worker->last_active = now_.wall;
  worker->secret = secret;
  worker->next_secret = next_secret;
  const LaunchConfigState& launch_config = launch_configs_[worker->launch_config];
  return {worker->number, launch_config.spec->launch_config.launch_config_id,
          worker->credentials_expire,
          launch_configs_[newest_launch_config(*worker)].spec->worker_config};
}

Result<Registered> Fleet::reregister_worker(const WorkerName& name, const Sha256& secret,
                                            const Sha256& next_secret, Now now) {
  begin(now);
  const auto index = known(name);
  if (!index) return index.error();
  const Worker& worker = workers_[*index];
  if (worker.state == WorkerState::requested)
    return Error::invalid(in_words(name) + " has not registered yet");
  // Both are compared, so that the time tells nothing.
  const bool told_last = equal_in_constant_time(worker.next_secret, secret);
  const bool used_last = equal_in_constant_time(worker.secret, secret);
  if (secret == Sha256{} || (!told_last && !used_last))
    return Error::auth("this is not the secret of " + in_words(name)).with_code("wrongSecret");
  if (worker.state != WorkerState::running)
    return no_longer_wanted(in_words(name) + " is to end: " + worker.reason);
  if (has_expired(worker))
    return no_longer_wanted(in_words(name) + " was declared until " + format_time(worker.expires));
  if (worker.drain == Drain::nonconformant)
    return no_longer_wanted(in_words(name) + " is in quarantine: " + worker.reason);
  if (worker.drain == Drain::outdated) {
    Error told = no_longer_wanted(in_words(name) + " is outdated: " + worker.reason);
    if (worker.announced() && pools_[worker.pool].spec)
      set_aside(*index, "outdated: " + worker.reason);
    return told;
  }
  const bool was_absent = worker.drain == Drain::absent;
  Registered renewed = renew(*index, secret, next_secret);
  if (was_absent) end_drain(*index, "it has renewed its credentials");
  return renewed;
}

// Also if nobody has dealt with it yet.
bool Fleet::has_expired(const Worker& worker) const {
  return worker.expires != Time{} && worker.expires <= now_.wall;
}

// -------------------------------------------------------------------------------------------------
// Work

Result<void> Fleet::worker_active(const WorkerName& name, std::int64_t busy, Now now) {
  begin(now);
  const auto index = known(name);
  if (!index) return index.error();
  if (workers_[*index].state != WorkerState::running)
    return no_longer_wanted(in_words(name) + " does not run");
  const std::int64_t most =
      std::max<std::int64_t>(workers_[*index].capacity, tasks_at_once(workers_[*index]));
  if (busy < 0 || busy > most)
    return Error::invalid("busy is " + std::to_string(busy) + ", but the worker's capacity is " +
                          std::to_string(most));
  // What is leased of a worker is work, also if the worker knows nothing of it.
  const auto works =
      std::max(capacity_at_work(workers_[*index], busy), leased_of(workers_[*index]));
  const bool first = works > 0 && !workers_[*index].claimed;
  const bool changed = workers_[*index].busy != works;
  {
    WorkerEdit worker(*this, *index);
    if (works == 0 && worker->busy != 0) worker->idle_since = now.wall;
    worker->working = static_cast<std::int32_t>(busy);
    worker->busy = works;
    worker->claimed |= works > 0;
    worker->last_active = now.wall;
  }
  const Worker& worker = workers_[*index];
  if (first) {
    launch_configs_[worker.launch_config].health.claimed(now.wall);
    touch(worker.launch_config);
  }
  if (changed) wake(worker.pool);
  return {};
}

// Asked by a worker that has nothing to do.
Result<ShouldTerminate> Fleet::should_terminate(const WorkerName& name, Now now) {
  begin(now);
  const auto index = known(name);
  if (!index) return index.error();
  const Worker& worker = workers_[*index];
  if (worker.state == WorkerState::stopping || worker.state == WorkerState::stopped)
    return ShouldTerminate{true, worker.reason};
  if (worker.state == WorkerState::requested) return ShouldTerminate{false, "not registered yet"};
  const bool works = leased_of(worker) > 0;
  // Who tells what he does has his idleTimeout; who does not asks when he thinks it is time.
  const bool long_idle =
      worker.busy < 0 ||
      (worker.busy == 0 && worker.idle_since + lifecycle_of(worker).idle_timeout <= now_.wall);
  // After a start the demand is not known yet.
  if (!works && worker.drain == Drain::none && now_.wall >= grace_until_ && long_idle &&
      may_shrink(pools_[worker.pool], worker))
    start_drain(*index, Drain::surplus, "over capacity: nothing waits for it");
  // Thousands ask every few seconds: to the minute is enough for what depends on it.
  if (now.wall - workers_[*index].last_active >= std::chrono::minutes(1))
    WorkerEdit(*this, *index)->last_active = now.wall;
  const Worker& judged = workers_[*index];
  const bool needed = works || judged.drain == Drain::none;
  return ShouldTerminate{!works && judged.is_draining_out(), needed ? "needed" : judged.reason};
}

Result<PoolErrorRow> Fleet::report_error(const WorkerName& name, const std::string& kind,
                                         const std::string& title, const std::string& description,
                                         json::object extra, Now now) {
  begin(now);
  const auto index = known(name);
  if (!index) return index.error();
  const Worker& worker = workers_[*index];
  launch_configs_[worker.launch_config].health.failed_later(now.wall, ErrorClass::internal);
  touch(worker.launch_config);
  extra["workerGroup"] = name.worker_group.str();
  extra["workerId"] = name.worker_id.str();
  return pool_error(worker, kind.c_str(), title, description, std::move(extra));
}

// -------------------------------------------------------------------------------------------------
// Draining

void Fleet::start_drain(Index index, Drain drain, std::string reason) {
  {
    WorkerEdit worker(*this, index);
    worker->drain = drain;
    worker->since = now_.wall;
    worker->reason = std::move(reason);
    if (drain == Drain::absent) worker->busy = worker->working = -1;
  }
  if (drain == Drain::surplus) {
    Pool& pool = pools_[workers_[index].pool];
    pool.surplus = std::max<std::int64_t>(0, pool.surplus - workers_[index].capacity);
  }
  wake(workers_[index].pool);
}

// It serves again, unless there is another reason why it should not.
void Fleet::end_drain(Index index, const std::string& why) {
  const Worker& before = workers_[index];
  if (before.drain == Drain::none) return;
  if (before.quarantined_until > now_.wall)
    return start_drain(index, Drain::quarantined,
                       "quarantined until " + format_time(before.quarantined_until));
  if (before.persists_when_absent() && has_lapsed(before))
    return start_drain(index, Drain::absent, why + "; it has not registered since");
  {
    WorkerEdit worker(*this, index);
    worker->drain = Drain::none;
    worker->since = now_.wall;
    worker->reason = "serves again: " + why;
  }
  wake(workers_[index].pool);
}

Result<void> Fleet::interrupt(const WorkerName& name, const Interruption& interruption, Now now) {
  begin(now);
  const auto index = known(name);
  if (!index) return index.error();
  interrupted(*index, {sensible_time(interruption.at), shortened(interruption.reason)});
  return {};
}

// Notices come twice, late, or for workers that end anyway.
void Fleet::interrupted(Index index, const Interruption& interruption) {
  const Worker& worker = workers_[index];
  if (worker.state != WorkerState::running && worker.state != WorkerState::requested) return;
  if (worker.interruption == interruption.at) return;
  const std::string reason = "the provider takes it away at " + format_time(interruption.at) +
                             (interruption.reason.empty() ? "" : ": " + interruption.reason);
  WorkerEdit(*this, index)->interruption = interruption.at;
  if (workers_[index].state == WorkerState::requested)
    return stop(index, reason);  // it would hardly begin
  if (workers_[index].drain != Drain::interrupted) start_drain(index, Drain::interrupted, reason);
}

// -------------------------------------------------------------------------------------------------
// Too many

// Nothing waits, and what is left is enough for the least and the warm capacity.
bool Fleet::may_shrink(const Pool& pool, const Worker& worker) const {
  if (worker.announced()) return false;  // its owner decides
  if (!pool.spec) return true;
  const Totals& totals = pool.totals;
  if (totals.running + totals.requested > pool.spec->settings.max_capacity) return true;
  const bool waited_for =
      pool.outside.pending > 0 ||
      (pool.in_queue > 0 && launch_configs_[worker.launch_config].queue_wants_it);
  if (waited_for && pool.surplus < worker.capacity) return false;
  if (totals.running - worker.capacity < pool.spec->settings.min_capacity) return false;
  const std::int64_t idle_after =
      totals.idle - std::max(0, worker.capacity - std::max(0, worker.busy));
  return pool.spec->lifecycle.warm_capacity <= 0 ||
         idle_after >= pool.spec->lifecycle.warm_capacity;
}

// Those that are idle for the longest end first: the others have the warmer caches.
void Fleet::shrink(Index index) {
  std::vector<std::pair<Time, Index>> idle;
  const Pool& pool = pools_[index];
  if (now_.wall < grace_until_) return;
  for (const Index at : pool.workers) {
    const Worker& worker = workers_[at];
    if (worker.state == WorkerState::running && worker.drain == Drain::none && worker.busy == 0 &&
        !worker.announced() && worker.idle_since + lifecycle_of(worker).idle_timeout <= now_.wall)
      idle.emplace_back(worker.idle_since, at);
  }
  std::ranges::sort(idle);
  for (const auto& [since, at] : idle) {
    if (!may_shrink(pools_[index], workers_[at])) break;
    start_drain(at, Drain::surplus,
                "idle since " + format_time(since) + " and nothing waits for it");
  }
}

}  // namespace muster::fleet
