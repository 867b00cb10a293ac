#include "host/fleet/lifecycle/worker_registration.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "host/fleet/model/sanitize.hpp"
#include "host/fleet/model/words.hpp"

namespace muster::fleet {
namespace {

std::string why_it_ends(const Worker& worker) {
  return (worker.drain == Drain::outdated ? " is outdated: " : " is drained: ") + worker.reason;
}

Error no_longer_wanted(std::string message) {
  return Error::not_found(std::move(message)).with_code("gone");
}

// Not if it came back to a host that had forgotten it.
bool has_secret(const Worker& worker) {
  return worker.secret != Sha256{} || worker.next_secret != Sha256{};
}

}  // namespace

// -------------------------------------------------------------------------------------------------
// Registration

Result<Registered> WorkerRegistration::register_worker(const WorkerName& name,
                                                       const ProviderId& provider,
                                                       const Sha256& secret, const Proven& proven) {
  const Index at = registry_.find_provider(provider);
  if (at == no_index) return Error::not_found("there is no provider " + provider.str());
  if (proven.reported)
    if (const auto may = link_.check_reported(name, provider, *proven.reported); !may)
      return may.error();
  if (proven.admission)
    if (const auto admitted = machines_.admit(at, name, *proven.admission); !admitted)
      return admitted.error();
  const Index index = table_.lookup(at, name);
  if (index == no_index || pools_[workers_[index].pool].id != name.worker_pool_id) {
    list_soon(at);  // its launch may have lost its answer
    if (const Index pool = registry_.find_pool_index(name.worker_pool_id); pool != no_index)
      pools_[pool].stranger_at = clock_.now();
    return Error::not_found("there is no " + in_words(name) +
                            " yet; if it was launched a moment ago, try again soon");
  }
  const Worker& worker = workers_[index];
  if (deadlines_.has_expired(worker))
    return Error::invalid("Worker " + name.worker_group.str() + "/" + name.worker_id.str() +
                          " has expired");
  if (worker.state == WorkerState::stopping || worker.state == WorkerState::stopped)
    return no_longer_wanted(in_words(name) + " is to end: " + worker.reason);
  if (worker.declared()) quarantine_.follow_newest(index);
  const LaunchConfigState& launch_config = launch_configs_[worker.launch_config];
  if (worker.state == WorkerState::requested && launch_config.outdated) {
    const std::string why = *launch_config.outdated;
    termination_.stop(index, "outdated before it registered: " + why);
    return no_longer_wanted(in_words(name) + " is outdated: " + why);
  }
  if (worker.ends_with_credentials()) return no_longer_wanted(in_words(name) + why_it_ends(worker));
  if (worker.declared() && launch_config.outdated)
    return no_longer_wanted(in_words(name) + " is outdated: " + *launch_config.outdated);
  if (!may_register(worker, proven.registration_key))
    return Error::invalid("Worker " + name.worker_group.str() + "/" + name.worker_id.str() +
                          " has registered already: a worker that was launched registers once, and "
                          "renews with its secret");
  const bool first = worker.registered == Time{};
  const bool without_secret = !has_secret(worker);
  const bool was_away = worker.drain == Drain::absent || worker.drain == Drain::nonconformant ||
                        (worker.drain == Drain::interrupted && worker.declared());
  if (first) became_running(index);
  if (first || without_secret)
    WorkerEdit(table_, index)->registration_key = proven.registration_key;
  Registered registered = renew(index, secret, {});
  link_.keep_reported(worker.number, proven.reported);
  if (was_away) draining_.end(index, "it has registered");
  if (first || was_away)
    outbox_.emit_event(
        "worker-running", worker, first ? "registered" : "registered again",
        proven.claims.empty() ? json::object() : json::object{{"claims", proven.claims}});
  return registered;
}

bool WorkerRegistration::may_register(const Worker& worker, const Sha256& key) const {
  if (worker.declared() || worker.state == WorkerState::requested || !has_secret(worker))
    return true;
  return worker.registration_key != Sha256{} &&
         equal_in_constant_time(worker.registration_key, key);
}

void WorkerRegistration::became_running(Index index) {
  // One that was found at its provider has credentials from before: nobody knows when it started.
  const bool was_found = workers_[index].credentials_expire != Time{};
  if (!workers_[index].declared() && !was_found) measurements_.measure_start(workers_[index]);
  {
    WorkerEdit worker(table_, index);
    if (worker->canary) holds_.canary_succeeded(*worker);
    worker->state = WorkerState::running;
    worker->phase = LaunchPhase::launched;
    worker->lost = false;
    worker->since = worker->registered = clock_.now();
    worker->attempts = 0;
    worker->reason = "registered";
  }
  const Worker& worker = workers_[index];
  LaunchConfigState& launch_config = launch_configs_[worker.launch_config];
  launch_config.health.registered(clock_.now());
  launch_config.on_probation = false;
  registry_.touch(worker.launch_config);
  agenda_.wake(worker.pool);
}

// Its provider lists it with the host's tags, and it has credentials that the host made out for it
// alone: that is who it is. What it told of itself and its secret come with its next registration.
void WorkerRegistration::came_back(Index index) {
  table_.confirm(index);
  const Worker& worker = workers_[index];
  const bool was_found = worker.credentials_expire != Time{};
  const bool was_forgotten =
      settings_.list_before_launches && worker.epoch != identity_.epoch && has_instance(worker);
  if (worker.state != WorkerState::requested || !(was_found || was_forgotten)) return;
  if (!was_found)
    WorkerEdit(table_, index)->credentials_expire =
        clock_.now() + registry_.lifecycle_of(worker).reregistration_timeout;
  became_running(index);
  WorkerEdit(table_, index)->reason = "came back with credentials of this host";
  outbox_.emit_event("worker-running", worker, worker.reason);
}

// A worker that does not say whether it works may do so: with a refusal it would lose its task.
bool WorkerRegistration::may_finish(const Worker& worker, Time now) const {
  const bool works = worker.busy != 0 || link_.leased_of(worker) > 0;
  return works && now < worker.since + registry_.lifecycle_of(worker).finish_tasks;
}

// One that is outdated: no longer than it may stay, but not less than it had.
Time WorkerRegistration::renewed_until(const Worker& worker, Time now) const {
  const Lifecycle& life = registry_.lifecycle_of(worker);
  const Time expire = now + life.reregistration_timeout;
  if (!worker.ends_with_credentials()) return expire;
  return std::max(worker.credentials_expire, std::min(expire, worker.since + life.finish_tasks));
}

Registered WorkerRegistration::renew(Index index, const Sha256& secret, const Sha256& next_secret) {
  table_.confirm(index);
  WorkerEdit worker(table_, index);
  worker->credentials_expire = renewed_until(*worker, clock_.now());
  worker->last_active = clock_.now();
  worker->secret = secret;
  worker->next_secret = next_secret;
  const LaunchConfigState& launch_config = launch_configs_[worker->launch_config];
  return {worker->number, launch_config.spec->launch_config.launch_config_id,
          worker->credentials_expire,
          launch_configs_[registry_.newest_launch_config(*worker)].spec->worker_config};
}

Result<Index> WorkerRegistration::renewing(const WorkerName& name, const Sha256& secret) const {
  auto index = table_.known(name);
  if (!index) return index.error();
  const Worker& worker = workers_[*index];
  if (worker.state == WorkerState::requested)
    return Error::invalid(in_words(name) + " has not registered yet");
  // Both are compared, so that the time it takes reveals nothing.
  const bool told_last = equal_in_constant_time(worker.next_secret, secret);
  const bool used_last = equal_in_constant_time(worker.secret, secret);
  if (secret == Sha256{} || (!told_last && !used_last))
    return Error::auth("this is not the secret of " + in_words(name)).with_code("wrongSecret");
  if (worker.state != WorkerState::running)
    return no_longer_wanted(in_words(name) + " is to end: " + worker.reason);
  if (deadlines_.has_expired(worker))
    return no_longer_wanted(in_words(name) + " was declared until " + format_time(worker.expires));
  if (worker.drain == Drain::nonconformant)
    return no_longer_wanted(in_words(name) + " is in quarantine: " + worker.reason);
  return index;
}

Result<Registered> WorkerRegistration::reregister_worker(const WorkerName& name,
                                                         const Sha256& secret,
                                                         const Sha256& next_secret) {
  const auto index = renewing(name, secret);
  if (!index) return index.error();
  const Worker& worker = workers_[*index];
  const bool outdated = worker.ends_with_credentials();
  if (outdated && !may_finish(worker, clock_.now())) {
    Error told = no_longer_wanted(in_words(name) + why_it_ends(worker));
    if (worker.declared() && pools_[worker.pool].spec)
      quarantine_.set_aside(*index, "outdated: " + worker.reason);
    return told;
  }
  const bool was_absent = worker.drain == Drain::absent;
  Registered renewed = renew(*index, secret, next_secret);
  if (was_absent) draining_.end(*index, "it has renewed its credentials");
  if (outdated) renewed.outdated = worker.reason;
  return renewed;
}

Result<Registered> WorkerRegistration::renewal_without_store(const WorkerName& name,
                                                             const Sha256& secret, Time now) const {
  const auto index = renewing(name, secret);
  if (!index) return index.error();
  const Worker& worker = workers_[*index];
  const bool outdated = worker.ends_with_credentials();
  if (outdated && !may_finish(worker, now))
    return no_longer_wanted(in_words(name) + why_it_ends(worker));
  return Registered{worker.number,
                    launch_configs_[worker.launch_config].spec->launch_config.launch_config_id,
                    renewed_until(worker, now),
                    launch_configs_[registry_.newest_launch_config(worker)].spec->worker_config,
                    outdated ? std::optional(worker.reason) : std::nullopt};
}

void WorkerRegistration::renewed_without_store(const WorkerName& name, Time credentials_expire) {
  const Index index = table_.lookup(name);
  if (index == no_index || workers_[index].state != WorkerState::running ||
      workers_[index].credentials_expire >= credentials_expire)
    return;
  WorkerEdit(table_, index)->credentials_expire = credentials_expire;
}

// -------------------------------------------------------------------------------------------------
// Work

Result<void> WorkerRegistration::worker_active(const WorkerName& name, std::int64_t busy) {
  const auto index = table_.known(name);
  if (!index) return index.error();
  came_back(*index);
  if (workers_[*index].state == WorkerState::requested)
    return Error::invalid(in_words(name) + " has not registered with this host yet");
  if (workers_[*index].state != WorkerState::running)
    return no_longer_wanted(in_words(name) + " does not run");
  const std::int64_t most =
      std::max<std::int64_t>(workers_[*index].capacity, link_.tasks_at_once(workers_[*index]));
  if (busy < 0 || busy > most)
    return Error::invalid("busy is " + std::to_string(busy) + ", but the worker's capacity is " +
                          std::to_string(most));
  // What is leased of a worker is work, also if the worker knows nothing of it.
  const auto works =
      std::max(link_.capacity_at_work(workers_[*index], busy), link_.leased_of(workers_[*index]));
  const bool first = works > 0 && !workers_[*index].claimed;
  const bool changed = workers_[*index].busy != works;
  {
    WorkerEdit worker(table_, *index);
    if (works == 0 && worker->busy != 0) worker->idle_since = clock_.now();
    worker->working = static_cast<std::int32_t>(busy);
    worker->busy = works;
    worker->claimed |= works > 0;
    worker->last_active = clock_.now();
  }
  const Worker& worker = workers_[*index];
  if (first) {
    launch_configs_[worker.launch_config].health.claimed(clock_.now());
    registry_.touch(worker.launch_config);
  }
  if (changed) agenda_.wake(worker.pool);
  return {};
}

// Asked by a worker that has nothing to do.
Result<ShouldTerminate> WorkerRegistration::should_terminate(const WorkerName& name) {
  const auto index = table_.known(name);
  if (!index) return index.error();
  const Worker& worker = workers_[*index];
  if (worker.state == WorkerState::stopping || worker.state == WorkerState::stopped)
    return ShouldTerminate{true, worker.reason};
  const bool was_requested = worker.state == WorkerState::requested;
  came_back(*index);
  if (was_requested)
    return ShouldTerminate{false, worker.registered == Time{} ? "not registered yet" : "needed"};
  const bool works = link_.leased_of(worker) > 0;
  // A worker that reports its work has its idleTimeout; another asks when it thinks it is time.
  const bool long_idle =
      worker.busy < 0 || (worker.busy == 0 && deadlines_.is_long_idle(worker) <= clock_.now());
  // After a start the demand is not known yet.
  if (!works && worker.drain == Drain::none && clock_.may_judge() && long_idle &&
      draining_.may_shrink(pools_[worker.pool], worker))
    draining_.start(*index, Drain::surplus, "over capacity: nothing waits for it");
  // Thousands ask every few seconds: to the minute is enough for what depends on it.
  if (clock_.now() - workers_[*index].last_active >= std::chrono::minutes(1))
    WorkerEdit(table_, *index)->last_active = clock_.now();
  const Worker& judged = workers_[*index];
  const bool needed = works || judged.drain == Drain::none;
  return ShouldTerminate{!works && judged.is_draining_out(), needed ? "needed" : judged.reason};
}

Result<PoolErrorRow> WorkerRegistration::report_error(const WorkerName& name,
                                                      const std::string& kind,
                                                      const std::string& title,
                                                      const std::string& description,
                                                      json::object extra) {
  const auto index = table_.known(name);
  if (!index) return index.error();
  if (const auto admitted = outbox_.admit_report(name, extra); !admitted) return admitted.error();
  const Worker& worker = workers_[*index];
  launch_configs_[worker.launch_config].health.failed_later(clock_.now(), ErrorClass::internal);
  registry_.touch(worker.launch_config);
  extra["workerGroup"] = name.worker_group.str();
  extra["workerId"] = name.worker_id.str();
  return outbox_.pool_error(worker, kind.c_str(), title, description, std::move(extra));
}

Result<void> WorkerRegistration::interrupt(const WorkerName& name,
                                           const Interruption& interruption) {
  const auto index = table_.known(name);
  if (!index) return index.error();
  draining_.interrupt(*index, {clamp_time(interruption.at), shortened(interruption.reason)});
  return {};
}

// -------------------------------------------------------------------------------------------------
// Its end

Result<void> WorkerRegistration::remove(const WorkerName& name, const std::string& reason) {
  const auto index = table_.known(name);
  if (!index) return index.error();
  const Worker& worker = workers_[*index];
  if (!is_alive(worker) || worker.state == WorkerState::stopping) return {};
  const std::string why = reason.empty() ? "removed" : reason;
  // Of one that was to end anyway the reason for that says more.
  const bool drains = worker.state == WorkerState::running && worker.drain != Drain::none;
  termination_.stop(*index, drains ? worker.reason + " (" + why + ")" : why);
  return {};
}

Result<void> WorkerRegistration::sign_off(const WorkerName& name, const std::string& reason) {
  const auto index = table_.known(name);
  if (!index) return index.error();
  const Worker& worker = workers_[*index];
  if (!worker.persists_when_absent() || worker.state != WorkerState::running)
    return remove(name, reason);
  {
    WorkerEdit changing(table_, *index);
    changing->credentials_expire = Time{};
    changing->secret = changing->next_secret = Sha256{};
  }
  if (worker.drain == Drain::none || worker.drain == Drain::interrupted)
    draining_.start(*index, Drain::absent, reason);
  return {};
}

}  // namespace muster::fleet
