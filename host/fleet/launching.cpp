// From a chosen bid to an instance: nothing lost, nothing twice.
#include <algorithm>

#include <muster/codec.hpp>

#include "host/fleet/changing.hpp"
#include "host/fleet/sensible.hpp"
#include "host/store/row.hpp"

namespace muster::fleet {
namespace {

// After such an error nobody knows whether an instance was launched.
bool leaves_doubt(ErrorClass error_class) {
  return error_class == ErrorClass::transient || error_class == ErrorClass::cancelled ||
         error_class == ErrorClass::internal;
}

}  // namespace

// -------------------------------------------------------------------------------------------------
// Turns

// The pools take turns, so that one with a thousand launches does not make another wait for its
// one.
void Fleet::dispatch(Index index) {
  ProviderState& provider = providers_[index];
  if (!provider.up) return;
  while (!provider.launchables.empty()) {
    const std::int64_t room = provider.throttle.room(now_.wall);
    if (room <= 0) return;
    // The next pool after the one that was served last, in a circle.
    const auto next =
        std::ranges::min_element(provider.launchables, {}, [&](const Launchable& launchable) {
          return std::pair(launchable.pool <= provider.last_served, launchable.pool);
        });
    if (is_held(*next)) {
      const Launchable held = std::move(*next);
      provider.launchables.erase(next);
      give_up(held, "what it would be launched from is held since it was chosen");
      continue;
    }
    provider.last_served = next->pool;
    Launchable turn = *next;
    if (static_cast<std::int64_t>(turn.workers.size()) > room) {
      turn.workers.resize(static_cast<std::size_t>(room));
      next->workers.erase(next->workers.begin(), next->workers.begin() + room);
    } else {
      provider.launchables.erase(next);
    }
    send(index, std::move(turn));
  }
}

// Whether something failed meanwhile that does not pass by itself. A canary goes, and so does a
// key that was tried before: its fate must be found out.
bool Fleet::is_held(const Launchable& launchable) const {
  const LaunchConfigState& launch_config = launch_configs_[launchable.launch_config];
  if (holds_.empty() || launch_config.removed()) return false;
  for (const std::int64_t number : launchable.workers)
    if (const auto found = by_number_.find(number); found != by_number_.end())
      if (workers_[found->second].canary || workers_[found->second].attempts > 0) return false;
  const bidding::Hold* hold = holds_.find(providers_[launch_config.provider].id,
                                          launch_config.spec->launch_config, now_.wall);
  return hold && !leaves_doubt(hold->error.error_class) &&
         hold->error.error_class != ErrorClass::throttle;
}

// Nobody was asked for them, so nothing is left behind; the pool looks elsewhere.
void Fleet::give_up(const Launchable& launchable, const std::string& why) {
  for (const std::int64_t number : launchable.workers) {
    const auto found = by_number_.find(number);
    if (found == by_number_.end()) continue;
    const Index index = found->second;
    if (workers_[index].attempts == 0 && workers_[index].phase == LaunchPhase::intended &&
        workers_[index].state == WorkerState::requested)
      stopped(index, "not launched: " + why);
    else
      WorkerEdit(*this, index)->called = false;
  }
}

void Fleet::send(Index index, Launchable launchable) {
  ProviderState& provider = providers_[index];
  const LaunchConfigState& launch_config = launch_configs_[launchable.launch_config];
  AllocateRequest request{.owner = owner_of(provider),
                          .launch_config = launch_config.spec->launch_config,
                          .bid_data = launchable.bid,
                          .idempotency_keys = {},
                          .tags = {},
                          .registration = settings_.registration};
  PendingCall open{.pool = launchable.pool,
                   .provider = index,
                   .launch_config = launchable.launch_config,
                   .bid = std::move(launchable.bid)};
  for (const std::int64_t number : launchable.workers) {
    const auto found = by_number_.find(number);
    if (found == by_number_.end()) continue;
    Worker& worker = workers_[found->second];
    if (worker.state != WorkerState::requested) {  // given up while it waited for its turn
      WorkerEdit(*this, found->second)->called = false;
      continue;
    }
    request.idempotency_keys.push_back(key_of(worker));
    open.workers.push_back(number);
    WorkerEdit changing(*this, found->second);
    ++changing->attempts;
    changing->called = true;
  }
  if (request.idempotency_keys.empty()) return;
  const std::string pool = pools_[launchable.pool].id.str();
  request.tags = {{"muster-host", host_id_},
                  {"muster-provider", provider.id.str()},
                  {"muster-pool", pool},
                  {"muster-launch-config", request.launch_config.launch_config_id.str()},
                  {"muster-epoch", std::to_string(epoch_)}};
  request.registration["workerPoolId"] = pool;
  request.registration["providerId"] = provider.id.str();
  request.registration["workerConfig"] = launch_config.spec->worker_config;
  provider.throttle.begin(static_cast<std::int64_t>(request.idempotency_keys.size()));
  ask(AskAllocation{provider.id, std::move(request)}, std::move(open));
}

// -------------------------------------------------------------------------------------------------
// Outcomes

void Fleet::allocated(const PendingCall& open, Result<Allocation> answer) {
  ProviderState& provider = providers_[open.provider];
  bool too_fast = !answer && answer.error().error_class == ErrorClass::throttle;
  std::map<std::string, const Launch*> launches;
  if (answer) {
    provider_fine(open.provider);
    for (const Launch& launch : answer->launches) {
      launches.emplace(launch.idempotency_key.str(), &launch);
      too_fast |= launch.error && launch.error->error_class == ErrorClass::throttle;
    }
  } else if (leaves_doubt(answer.error().error_class)) {
    provider_trouble(open.provider, answer.error());
  }
  provider.throttle.ended(too_fast);
  for (const std::int64_t number : open.workers) {
    const auto found = by_number_.find(number);
    if (found == by_number_.end()) continue;
    const Index index = found->second;
    WorkerEdit(*this, index)->called = false;
    const auto launch = launches.find(key_of(workers_[index]).str());
    if (!answer)
      launch_error(index, answer.error());
    else if (launch == launches.end())
      launch_error(index, Error::internal("the provider's answer does not name this launch"));
    else if (launch->second->error)
      launch_error(index, *launch->second->error);
    else if (launch->second->instance && sensible(*launch->second->instance))
      launched(index, *launch->second->instance);
    else
      launch_error(index, Error::internal("the provider's answer has neither instance nor error"));
    if (workers_[index].phase == LaunchPhase::uncertain && is_alive(workers_[index]))
      bid_data_.insert_or_assign(number, open.bid);
    else
      bid_data_.erase(number);
  }
  wake(open.pool);
}

void Fleet::launch_error(Index index, const Error& error) {
  if (workers_[index].state == WorkerState::stopped) return;
  if (has_instance(workers_[index])) return;  // a listing found it meanwhile
  if (leaves_doubt(error.error_class))
    launch_uncertain(index, error);
  else
    launch_failed(index, error);
}

// The instance is there. Its worker may have been given up meanwhile: then it ends at once.
void Fleet::launched(Index index, const Instance& instance) {
  const Index tenant =
      lookup(workers_[index].provider, instance.worker_group.str(), instance.worker_id.str());
  if (tenant == index) return;  // a listing was faster
  if (has_instance(workers_[index])) return launched_twice(index, instance);
  if (tenant != no_index && is_alive(workers_[tenant])) {
    launch_failed(index, Error::internal("the provider answered with instance " +
                                         instance.worker_id.str() + ", which is another worker's"));
    return;
  }
  take_instance(index, instance);
  Worker& worker = workers_[index];
  LaunchConfigState& launch_config = launch_configs_[worker.launch_config];
  launch_config.health.launched(now_.wall);
  touch(worker.launch_config);
  ++pools_[worker.pool].launched;
  launch_config.unregistered.push_back(index);
  if (launch_config.unregistered.size() > 64 &&
      static_cast<std::int64_t>(launch_config.unregistered.size()) >
          2 * launch_config.totals.workers)
    std::erase_if(launch_config.unregistered, [&](Index at) {
      return workers_[at].state != WorkerState::requested ||
             workers_[at].launch_config != worker.launch_config;
    });
  if (worker.canary) {
    WorkerEdit changing(*this, index);
    canary_succeeded(*changing);
  }
  emit_event("worker-launched", worker, "launched as " + instance.worker_id.str());
  if (worker.state == WorkerState::stopping) ask_termination(index);
}

void Fleet::take_instance(Index index, const Instance& instance) {
  const bool was_stopped = workers_[index].state == WorkerState::stopped;
  if (was_stopped) revive(index);
  {
    WorkerEdit worker(*this, index);
    worker->phase = LaunchPhase::launched;
    worker->group = index_of_group(instance.worker_group.str());
    worker->worker_id = instance.worker_id.str();
    worker->provider_data = json::write(instance.provider_data);
    worker->lost = false;
    worker->attempts = 0;
    worker->missing = 0;
    worker->since = now_.wall;
    if (worker->state == WorkerState::requested) worker->reason = "launched, boots";
  }
  index_instance(index);
}

// A worker that was given up turns out to have an instance: back among the living, to be ended.
void Fleet::revive(Index index) {
  Worker& worker = workers_[index];
  take_from_pool(pools_[worker.pool].stopped, worker);
  WorkerEdit changing(*this, index);
  changing->state = WorkerState::stopping;
  changing->terminating = false;
  put_in_pool(worker, index);
}

void Fleet::launch_failed(Index index, const Error& error) {
  Worker& worker = workers_[index];
  LaunchConfigState& launch_config = launch_configs_[worker.launch_config];
  launch_config.health.failed(now_.wall, error.error_class);
  touch(worker.launch_config);
  ++pools_[worker.pool].failed;
  json::object extra{{"class", std::string(to_string(error.error_class))}};
  if (!error.code.empty()) extra["code"] = error.code;
  pool_error(worker, "creation-error", "could not be launched", error.message, std::move(extra));
  hold(worker.provider, narrowed(error, worker.launch_config));
  if (worker.canary) {  // the hold is renewed, or the error was about something else
    WorkerEdit changing(*this, index);
    canary_ended(*changing);
  }
  stopped(index, "could not be launched: " + error.message);
}

// An error that concerns a document and names no scope concerns this document, not the whole
// provider. One that names a scope elsewhere would hold nothing, and be repeated without a pause.
Error Fleet::narrowed(Error error, Index launch_config) const {
  const LaunchConfigState& state = launch_configs_[launch_config];
  const bool of_document =
      error.error_class == ErrorClass::config || error.error_class == ErrorClass::invalid ||
      error.error_class == ErrorClass::not_found || error.error_class == ErrorClass::unsupported;
  const ProviderId& provider = providers_[state.provider].id;
  const bool elsewhere = !bidding::covers({.provider_id = provider, .error = error}, provider,
                                          state.spec->launch_config);
  if (elsewhere || (of_document && error.scope.whole_provider()))
    error.scope = {{}, {}, {}, state.spec->launch_config.launch_config_id.str()};
  return error;
}

void Fleet::launch_uncertain(Index index, const Error& error) {
  {
    WorkerEdit worker(*this, index);
    if (worker->phase != LaunchPhase::uncertain) worker->since = now_.wall;
    worker->phase = LaunchPhase::uncertain;
    if (worker->state == WorkerState::requested)
      worker->reason = "the outcome of the launch is unknown: " + error.message;
  }
  hold(workers_[index].provider, narrowed(error, workers_[index].launch_config));
  list_soon(workers_[index].provider);
}

// With the same key, so that a launch that did emit_event is found and not repeated.
void Fleet::retry_launch(Index index) {
  Worker& worker = workers_[index];
  {
    WorkerEdit changing(*this, index);
    changing->called = true;
  }
  providers_[worker.provider].launchables.push_back(
      {worker.pool, worker.launch_config, bid_data_[worker.number], {worker.number}});
}

// -------------------------------------------------------------------------------------------------
// Holds

void Fleet::hold(Index provider, const Error& error) {
  const bidding::Hold* held = holds_.add(providers_[provider].id, error, now_.wall);
  if (!held) return;
  hold_changed(*held);
  emit_event("hold-began", providers_[provider], held->in_words(),
             {{"scope", held->scope_text()},
              {"class", std::string(to_string(held->error.error_class))},
              {"until", format_time(held->until)}});
}

void Fleet::hold_changed(const bidding::Hold& hold) {
  outcome_.changes.emplace_back(store::put(to_row(hold)));
}

void Fleet::unhold(const bidding::Hold& hold) {
  outcome_.changes.emplace_back(store::erase<HoldRow>({hold.provider_id.str(), hold.scope_text()}));
  emit_event("hold-ended", providers_[index_of_provider(hold.provider_id)],
             "no longer held back: " + hold.scope_text(), {{"scope", hold.scope_text()}});
}

Result<std::vector<bidding::Hold>> Fleet::release_holds(const ProviderId& provider,
                                                        const std::optional<std::string>& scope,
                                                        Now now) {
  begin(now);
  auto released = holds_.release(provider, scope);
  if (released.empty())
    return Error::not_found("nothing of provider " + provider.str() + " is held back" +
                            (scope ? " in that scope" : "") + "; see: muster holds");
  const Index index = index_of_provider(provider);
  for (const bidding::Hold& hold : released) unhold(hold);
  for (Index pool = 0; pool < pools_.size(); ++pool)
    if (std::ranges::any_of(pools_[pool].launch_configs,
                            [&](Index at) { return launch_configs_[at].provider == index; }))
      wake(pool, true);
  return released;
}

void Fleet::canary_succeeded(Worker& worker) {
  worker.canary = false;
  for (const bidding::Hold& over :
       holds_.succeeded(providers_[worker.provider].id,
                        launch_configs_[worker.launch_config].spec->launch_config)) {
    unhold(over);
    wake_all_of(worker.provider);
  }
}

void Fleet::canary_ended(Worker& worker) {
  worker.canary = false;
  holds_.probe_ended(providers_[worker.provider].id,
                     launch_configs_[worker.launch_config].spec->launch_config);
}

// Those that were held with it may launch as many as they want now.
void Fleet::wake_all_of(Index provider) {
  for (Index pool = 0; pool < pools_.size(); ++pool)
    if (pools_[pool].want > 0 && std::ranges::any_of(pools_[pool].launch_configs, [&](Index at) {
          return launch_configs_[at].provider == provider;
        }))
      wake(pool);
}

HoldRow to_row(const bidding::Hold& hold) {
  return {.provider_id = hold.provider_id,
          .scope = hold.scope_text(),
          .error_class = std::string(to_string(hold.error.error_class)),
          .region = hold.error.scope.region,
          .zone = hold.error.scope.zone,
          .instance_type = hold.error.scope.instance_type,
          .launch_config_id = hold.error.scope.launch_config_id,
          .message = hold.error.message,
          .code = hold.error.code,
          .since = hold.since,
          .until = hold.until,
          .strikes = hold.strikes,
          .probing = hold.probing};
}

}  // namespace muster::fleet
