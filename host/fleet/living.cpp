// A worker's life: it registers, renews its credentials, works, drains, and ends.
#include <algorithm>

#include <muster/codec.hpp>

#include "host/fleet/changing.hpp"
#include "host/lifecycle/cycling.hpp"
#include "host/queue/queue.hpp"
#include "host/store/row.hpp"

namespace muster::fleet {
namespace {

constexpr std::size_t terminations_in_one_call = 100;

// What is leased of a worker is work, also if the worker knows nothing of it.
std::int64_t leased(const queue::Queue& queue, const Worker& worker) {
  const queue::Worker* known = queue.find_worker(worker.number);
  return known ? known->used.active_task : 0;
}

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
  if (index == nowhere) return Error::not_found("nobody knows " + in_words(name));
  return index;
}

// -------------------------------------------------------------------------------------------------
// Registration

Result<Registered> Fleet::register_worker(const WorkerName& name, const ProviderId& provider,
                                          const Sha256& secret, Now now) {
  begin(now);
  const auto at = provider_index_.find(provider);
  if (at == provider_index_.end())
    return Error::not_found("there is no provider " + provider.str());
  const Index index = lookup(at->second, name.worker_group.str(), name.worker_id.str());
  if (index == nowhere || pools_[workers_[index].pool].id != name.worker_pool_id) {
    list_soon(at->second);  // its launch may have lost its answer
    return Error::not_found("nobody knows " + in_words(name) +
                            " yet; if it was launched a moment ago, try again soon");
  }
  const Worker& worker = workers_[index];
  if (worker.state == WorkerState::stopping || worker.state == WorkerState::stopped)
    return no_longer_wanted(in_words(name) + " is to end: " + worker.reason);
  const LaunchConfigState& launch_config = launch_configs_[worker.launch_config];
  if (worker.state == WorkerState::requested && launch_config.outdated) {
    const std::string why = *launch_config.outdated;
    stop(index, "outdated before it registered: " + why);
    return no_longer_wanted(in_words(name) + " is outdated: " + why);
  }
  if (worker.drain == Drain::outdated)
    return no_longer_wanted(in_words(name) + " is outdated: " + worker.reason);
  if (worker.registered == Time{}) became_running(index);
  return renew(index, secret, {});
}

void Fleet::became_running(Index index) {
  {
    Changing worker(*this, index);
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
  launch_config.doubted = false;
  touch(worker.launch_config);
  happen("worker-running", worker, "registered");
  wake(worker.pool);
}

Registered Fleet::renew(Index index, const Sha256& secret, const Sha256& next_secret) {
  const Lifecycle& life = lifecycle_of(workers_[index]);
  Changing worker(*this, index);
  worker->credentials_expire = now_.wall + life.reregistration_timeout;
  worker->last_active = now_.wall;
  worker->secret = secret;
  worker->next_secret = next_secret;
  const LaunchConfigState& launch_config = launch_configs_[worker->launch_config];
  return {worker->number, launch_config.spec->launch_config.launch_config_id,
          worker->credentials_expire, newest_worker_config(*worker)};
}

// Of the launch configuration that took its place, if its own is archived.
const json::object& Fleet::newest_worker_config(const Worker& worker) const {
  const LaunchConfigState& own = launch_configs_[worker.launch_config];
  if (own.status == LaunchConfigStatus::archived)
    for (const Index sibling : pools_[worker.pool].launch_configs) {
      const LaunchConfigState& other = launch_configs_[sibling];
      if (other.status != LaunchConfigStatus::archived && other.provider == own.provider &&
          other.spec->launch_config.placement == own.spec->launch_config.placement)
        return other.spec->worker_config;
    }
  return own.spec->worker_config;
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
  if (worker.drain == Drain::outdated)
    return no_longer_wanted(in_words(name) + " is outdated: " + worker.reason);
  return renew(*index, secret, next_secret);
}

// -------------------------------------------------------------------------------------------------
// Work

Result<void> Fleet::worker_active(const WorkerName& name, std::int64_t busy, Now now) {
  begin(now);
  const auto index = known(name);
  if (!index) return index.error();
  if (workers_[*index].state != WorkerState::running)
    return no_longer_wanted(in_words(name) + " does not run");
  if (busy < 0 || busy > workers_[*index].capacity)
    return Error::invalid("busy is " + std::to_string(busy) + ", but the worker's capacity is " +
                          std::to_string(workers_[*index].capacity));
  busy =
      std::clamp<std::int64_t>(leased(*queue_, workers_[*index]), busy, workers_[*index].capacity);
  const bool first = busy > 0 && !workers_[*index].claimed;
  const bool changed = workers_[*index].busy != busy;
  {
    Changing worker(*this, *index);
    if (busy == 0 && worker->busy != 0) worker->idle_since = now.wall;
    worker->busy = static_cast<std::int32_t>(busy);
    worker->claimed |= busy > 0;
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
  const bool works = leased(*queue_, worker) > 0;
  // After a start the demand is not known yet.
  if (!works && worker.drain == Drain::none && now_.wall >= grace_until_ &&
      may_shrink(pools_[worker.pool], worker))
    start_drain(*index, Drain::surplus, "over capacity: nothing waits for it");
  // Thousands ask every few seconds: to the minute is enough for what depends on it.
  if (now.wall - workers_[*index].last_active >= std::chrono::minutes(1))
    Changing(*this, *index)->last_active = now.wall;
  const bool ends = !works && workers_[*index].drain != Drain::none;
  return ShouldTerminate{ends, ends ? workers_[*index].reason : "needed"};
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
    Changing worker(*this, index);
    worker->drain = drain;
    worker->since = now_.wall;
    worker->reason = std::move(reason);
  }
  if (drain == Drain::surplus) {
    Pool& pool = pools_[workers_[index].pool];
    pool.surplus = std::max<std::int64_t>(0, pool.surplus - workers_[index].capacity);
  }
  wake(workers_[index].pool);
}

void Fleet::end_drain(Index index, const char* why) {
  if (workers_[index].drain == Drain::none) return;
  {
    Changing worker(*this, index);
    worker->drain = Drain::none;
    worker->since = now_.wall;
    worker->reason = std::string("serves again: ") + why;
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
  Changing(*this, index)->interruption = interruption.at;
  if (workers_[index].state == WorkerState::requested)
    return stop(index, reason);  // it would hardly begin
  if (workers_[index].drain != Drain::interrupted) start_drain(index, Drain::interrupted, reason);
}

Result<void> Fleet::quarantine(const WorkerName& name, Time until, const std::string& reason,
                               Now now) {
  begin(now);
  const auto index = known(name);
  if (!index) return index.error();
  if (workers_[*index].state != WorkerState::running)
    return Error::invalid(in_words(name) + " does not run: only a running worker is quarantined");
  const bool release = until <= now.wall;
  Changing(*this, *index)->quarantined_until = release ? Time{} : until;
  if (release) {
    if (workers_[*index].drain == Drain::quarantined) end_drain(*index, "it was released");
  } else if (workers_[*index].drain != Drain::outdated &&
             workers_[*index].drain != Drain::interrupted) {  // those end anyway, and for good
    start_drain(*index, Drain::quarantined,
                "quarantined until " + format_time(until) + (reason.empty() ? "" : ": " + reason));
  }
  return {};
}

// -------------------------------------------------------------------------------------------------
// Too many

// Nothing waits, and what is left is enough for the least and the warm capacity.
bool Fleet::may_shrink(const Pool& pool, const Worker& worker) const {
  if (worker.announced()) return false;  // its owner decides
  if (!pool.spec) return true;
  const Totals& totals = pool.totals;
  if (totals.running + totals.requested > pool.spec->settings.max_capacity) return true;
  if (pool.demand.pending > 0 && pool.surplus < worker.capacity) return false;
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
        worker.idle_since + lifecycle_of(worker).idle_timeout <= now_.wall)
      idle.emplace_back(worker.idle_since, at);
  }
  std::ranges::sort(idle);
  for (const auto& [since, at] : idle) {
    if (!may_shrink(pools_[index], workers_[at])) break;
    start_drain(at, Drain::surplus,
                "idle since " + format_time(since) + " and nothing waits for it");
  }
}

// -------------------------------------------------------------------------------------------------
// The end

Result<void> Fleet::remove_worker(const WorkerName& name, const std::string& reason, Now now) {
  begin(now);
  const auto index = known(name);
  if (!index) return index.error();
  if (is_alive(workers_[*index]) && workers_[*index].state != WorkerState::stopping)
    stop(*index, reason.empty() ? "removed" : reason);
  return {};
}

// A worker whose instance is not known (yet) is stopping, too: a listing tells its end.
void Fleet::stop(Index index, std::string reason) {
  if (!is_alive(workers_[index]) || workers_[index].state == WorkerState::stopping) return;
  const bool never_called =
      workers_[index].phase == LaunchPhase::intended && !workers_[index].called;
  {
    Changing worker(*this, index);
    if (worker->canary) canary_ended(*worker);
    worker->state = WorkerState::stopping;
    worker->since = now_.wall;
    worker->attempts = 0;
    worker->reason = std::move(reason);
  }
  happen("worker-stopping", workers_[index], workers_[index].reason,
         {{"reason", workers_[index].reason}});
  if (never_called || workers_[index].announced())
    stopped(index, workers_[index].reason);
  else if (has_instance(workers_[index]))
    ask_termination(index);
  else
    list_soon(workers_[index].provider);
  wake(workers_[index].pool);
}

void Fleet::stop_with_error(Index index, const char* kind, const char* title,
                            const std::string& description) {
  const Worker& worker = workers_[index];
  launch_configs_[worker.launch_config].health.failed_later(now_.wall, ErrorClass::internal);
  touch(worker.launch_config);
  ++pools_[worker.pool].failed;
  pool_error(worker, kind, title, description,
             {{"workerGroup", worker.group == nowhere ? "" : groups_[worker.group]},
              {"workerId", worker.worker_id}});
  stop(index, std::string(title) + ": " + description);
}

void Fleet::never_registered(Index index) {
  const auto timeout = lifecycle_of(workers_[index]).registration_timeout.count();
  stop_with_error(index, "registration-timeout", "never registered",
                  "it was launched and did not register within " + std::to_string(timeout) + " s");
}

void Fleet::stopped(Index index, std::string reason) {
  if (workers_[index].state == WorkerState::stopped) return;
  {
    Changing worker(*this, index);
    if (worker->canary) canary_ended(*worker);
    worker->state = WorkerState::stopped;
    worker->since = now_.wall;
    worker->lost = false;
    worker->reason = std::move(reason);
  }
  Worker& worker = workers_[index];
  take_from_pool(pools_[worker.pool].workers, worker);
  put_in_pool(worker, index);
  bid_data_.erase(worker.number);
  happen("worker-stopped", worker, worker.reason, {{"reason", worker.reason}});
  wake(worker.pool);
}

void Fleet::ask_termination(Index index) {
  Worker& worker = workers_[index];
  if (worker.terminating) return;
  worker.terminating = true;
  providers_[worker.provider].to_terminate.push_back(worker.number);
}

void Fleet::terminate_waiting(Index index) {
  ProviderState& provider = providers_[index];
  if (!provider.up) return;
  while (!provider.to_terminate.empty()) {
    TerminateRequest request{.owner = owner_of(provider), .workers = {}, .reason = {}};
    Open open{.provider = index};
    const std::size_t count = std::min(provider.to_terminate.size(), terminations_in_one_call);
    for (std::size_t i = 0; i < count; ++i) {
      const auto found = by_number_.find(provider.to_terminate[i]);
      if (found == by_number_.end()) continue;
      const Worker& worker = workers_[found->second];
      json::object data;
      if (auto parsed = json::parse_object(worker.provider_data)) data = std::move(*parsed);
      request.workers.push_back(
          {WorkerGroup(groups_[worker.group]), WorkerId(worker.worker_id), std::move(data)});
      if (request.reason.empty()) request.reason = worker.reason;
      open.workers.push_back(worker.number);
    }
    provider.to_terminate.erase(provider.to_terminate.begin(),
                                provider.to_terminate.begin() + static_cast<std::ptrdiff_t>(count));
    if (!request.workers.empty())
      ask(AskTermination{provider.id, std::move(request)}, std::move(open));
  }
}

// The provider promised: they are stopping or gone, and the next listing shows which.
void Fleet::terminated(const Open& open, Result<Termination> answer) {
  if (answer)
    provider_fine(open.provider);
  else
    provider_trouble(open.provider, answer.error());
  for (const std::int64_t number : open.workers) {
    const auto found = by_number_.find(number);
    if (found == by_number_.end() || !is_alive(workers_[found->second])) continue;
    Changing worker(*this, found->second);
    worker->terminating = false;
    worker->since = now_.wall;
    if (worker->attempts < 200) ++worker->attempts;
  }
  if (!answer) return;
  for (const Termination::Failure& failure : answer->failures) {
    const Index index = lookup(open.provider, failure.worker_group.str(), failure.worker_id.str());
    if (index != nowhere && is_alive(workers_[index]))
      pool_error(workers_[index], "termination-error", "cannot be terminated",
                 failure.error.message);
  }
  list_soon(open.provider);
}

Owner Fleet::owner_of(const ProviderState& provider) const {
  return {host_id_, provider.id, epoch_};
}

}  // namespace muster::fleet
