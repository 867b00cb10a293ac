#include "host/fleet/allocation/dispatcher.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "host/fleet/allocation/launch_errors.hpp"
#include "host/fleet/model/sanitize.hpp"

namespace muster::fleet {

Dispatcher::Lane& Dispatcher::lane(Index provider) {
  if (provider >= lanes_.size()) lanes_.resize(provider + 1);
  return lanes_[provider];
}

void Dispatcher::Lane::add(Launchable launchable) {
  ++count;
  waiting[launchable.pool].push_back(std::move(launchable));
}

// The next pool after the one that was served last, in a circle.
std::map<Index, std::deque<Dispatcher::Launchable>>::iterator Dispatcher::Lane::next_pool() {
  const auto next = waiting.upper_bound(last_served);
  return next == waiting.end() ? waiting.begin() : next;
}

std::int64_t Dispatcher::Lane::next_size() const {
  const auto next = waiting.upper_bound(last_served);
  const auto& pool = next == waiting.end() ? *waiting.begin() : *next;
  return static_cast<std::int64_t>(pool.second.front().workers.size());
}

Dispatcher::Launchable Dispatcher::Lane::take_first(
    std::map<Index, std::deque<Launchable>>::iterator pool) {
  Launchable taken = std::move(pool->second.front());
  pool->second.pop_front();
  if (pool->second.empty()) waiting.erase(pool);
  --count;
  return taken;
}

const allocation::Throttle& Dispatcher::throttle(Index provider) const {
  static const allocation::Throttle untouched;
  return provider < lanes_.size() ? lanes_[provider].throttle : untouched;
}

std::size_t Dispatcher::waiting(Index provider) const {
  return provider < lanes_.size() ? lanes_[provider].count : 0;
}

Time Dispatcher::next_wake() const {
  Time next = Time::max();
  for (Index provider = 0; provider < lanes_.size(); ++provider)
    if (providers_[provider].up && lanes_[provider].count > 0)
      next = std::min(next,
                      lanes_[provider].throttle.next(clock_.now(), lanes_[provider].next_size()));
  return next;
}

void Dispatcher::prune() {
  std::erase_if(bid_data_, [&](const auto& entry) {
    const Index worker = table_.find(entry.first);
    return worker == no_index || !is_alive(workers_[worker]);
  });
}

// -------------------------------------------------------------------------------------------------
// Providers

void Dispatcher::provider_up(Index provider, const ProviderSettings& settings, bool was_up) {
  const allocation::ThrottleSettings throttle{.launches_per_second = settings.launches_per_second,
                                              .burst = settings.launch_burst,
                                              .calls_at_once = settings.launch_calls_at_once};
  Lane& lane = this->lane(provider);
  if (!was_up || throttle != lane.throttle.settings()) lane.throttle.change(throttle);
}

void Dispatcher::provider_down(Index provider, const std::string& why) {
  Lane& lane = this->lane(provider);
  lane.count = 0;
  for (const auto& [pool, launchables] : std::exchange(lane.waiting, {}))
    for (const Launchable& launchable : launchables)
      give_up(launchable,
              "provider " + providers_[provider].id.str() + " is not available: " + why);
}

// -------------------------------------------------------------------------------------------------
// Intents

std::int64_t Dispatcher::launch(Index pool, Index at, std::int64_t instances, const Bid& bid) {
  if (launch_configs_[at].removed() || launch_configs_[at].pool != pool ||
      launch_configs_[at].status != LaunchConfigStatus::active)
    return 0;
  const std::shared_ptr<const LaunchConfigSpec> spec = launch_configs_[at].spec;
  const Index provider = launch_configs_[at].provider;
  if (!providers_[provider].up) return 0;
  const std::int64_t capacity = instance_capacity(*spec);
  instances = std::min(instances, registry_.capacity_room(pool, at) / capacity);
  if (holds_.find(launch_configs_[at]) || is_doubted(launch_configs_[at])) return 0;
  bool canary = false;
  if (const bidding::Hold* hold = holds_.find_probed(launch_configs_[at])) {
    instances = std::min<std::int64_t>(instances, 1);
    canary = instances > 0 && holds_.begin_probe(*hold);
  }
  if (launch_configs_[at].on_probation) instances = std::min<std::int64_t>(instances, 1);
  if (instances <= 0) return 0;
  Launchable launchable{pool, at, bid.data, {}};
  for (std::int64_t i = 0; i < instances; ++i) {
    Worker worker;
    worker.number = outbox_.next_number();
    worker.pool = pool;
    worker.launch_config = at;
    worker.provider = provider;
    worker.capacity = static_cast<std::int32_t>(capacity);
    worker.epoch = identity_.epoch;
    worker.price = bid.price_per_capacity_hour * static_cast<double>(capacity);
    worker.created = worker.since = clock_.now();
    worker.canary = canary;
    worker.reason = "to be launched";
    launchable.workers.push_back(worker.number);
    const Index added = table_.add(std::move(worker));
    outbox_.emit_event("worker-requested", workers_[added], "to be launched");
    if (static_cast<std::int64_t>(launchable.workers.size()) >=
        providers_[provider].settings.launches_per_call) {
      lane(provider).add(launchable);
      launchable.workers.clear();
    }
  }
  if (!launchable.workers.empty()) lane(provider).add(std::move(launchable));
  return instances;
}

void Dispatcher::retry(Index index) {
  const Worker& worker = workers_[index];
  WorkerEdit(table_, index)->called = true;
  lane(worker.provider)
      .add({worker.pool, worker.launch_config, bid_data_[worker.number], {worker.number}});
}

// -------------------------------------------------------------------------------------------------
// Turns

// The pools take turns, so that one with a thousand launches does not make another wait for its
// one.
void Dispatcher::dispatch(Index index) {
  if (!providers_[index].up || waiting(index) == 0) return;
  Lane& lane = this->lane(index);
  while (lane.count > 0) {
    const std::int64_t room = lane.throttle.room(clock_.now(), lane.next_size());
    if (room <= 0) return;
    const auto next = lane.next_pool();
    Launchable& first = next->second.front();
    if (is_held(first)) {
      give_up(lane.take_first(next),
              "what it would be launched from is held, or its provider's list is doubted, "
              "since it was chosen");
      continue;
    }
    lane.last_served = next->first;
    if (static_cast<std::int64_t>(first.workers.size()) <= room) {
      send(index, lane.take_first(next));
      continue;
    }
    Launchable turn = first;
    turn.workers.resize(static_cast<std::size_t>(room));
    first.workers.erase(first.workers.begin(), first.workers.begin() + room);
    send(index, std::move(turn));
  }
}

// Whether something failed meanwhile that does not pass by itself. A canary goes, and so does a
// key that was tried before: its fate must be found out.
bool Dispatcher::is_held(const Launchable& launchable) const {
  const LaunchConfigState& launch_config = launch_configs_[launchable.launch_config];
  const bool doubted = is_doubted(launch_config);
  if ((holds_.empty() && !doubted) || launch_config.removed()) return false;
  for (const std::int64_t number : launchable.workers)
    if (const Index found = table_.find(number); found != no_index)
      if ((workers_[found].canary && !doubted) || workers_[found].attempts > 0) return false;
  if (doubted) return true;
  const bidding::Hold* hold = holds_.find(launch_config);
  return hold && !leaves_doubt(hold->error.error_class) &&
         hold->error.error_class != ErrorClass::throttle;
}

// What is there is not known: nothing is added to it.
bool Dispatcher::is_doubted(const LaunchConfigState& launch_config) const {
  return !launch_config.removed() && doubt_about(providers_[launch_config.provider],
                                                 launch_config.spec->launch_config) != nullptr;
}

// Nobody was asked for them, so nothing is left behind; the pool looks elsewhere.
void Dispatcher::give_up(const Launchable& launchable, const std::string& why) {
  for (const std::int64_t number : launchable.workers) {
    const Index index = table_.find(number);
    if (index == no_index) continue;
    if (workers_[index].attempts == 0 && workers_[index].phase == LaunchPhase::intended &&
        workers_[index].state == WorkerState::requested)
      termination_.stopped(index, "not launched: " + why);
    else
      WorkerEdit(table_, index)->called = false;
  }
}

void Dispatcher::send(Index index, Launchable launchable) {
  const ProviderState& provider = providers_[index];
  const LaunchConfigState& launch_config = launch_configs_[launchable.launch_config];
  AllocateRequest request{.owner = identity_.owner_of(provider.id),
                          .launch_config = launch_config.spec->launch_config,
                          .bid_data = launchable.bid,
                          .idempotency_keys = {},
                          .tags = {},
                          .registration = settings_.registration};
  PendingCall call{.pool = launchable.pool,
                   .provider = index,
                   .launch_config = launchable.launch_config,
                   .bid = std::move(launchable.bid)};
  for (const std::int64_t number : launchable.workers) {
    const Index found = table_.find(number);
    if (found == no_index) continue;
    const Worker& worker = workers_[found];
    if (worker.state != WorkerState::requested) {  // given up while it waited for its turn
      WorkerEdit(table_, found)->called = false;
      continue;
    }
    request.idempotency_keys.push_back(identity_.key_of(worker));
    if (worker.attempts > 0 || worker.epoch != identity_.epoch)
      request.repeated_keys.push_back(request.idempotency_keys.back());
    call.workers.push_back(number);
    WorkerEdit changing(table_, found);
    ++changing->attempts;
    changing->called = true;
  }
  if (request.idempotency_keys.empty()) return;
  const std::string pool = pools_[launchable.pool].id.str();
  request.tags = {{"muster-host", identity_.host_id},
                  {"muster-provider", provider.id.str()},
                  {"muster-pool", pool},
                  {"muster-launch-config", request.launch_config.launch_config_id.str()},
                  {"muster-epoch", std::to_string(identity_.epoch)}};
  request.registration["workerPoolId"] = pool;
  request.registration["providerId"] = provider.id.str();
  request.registration["workerConfig"] = launch_config.spec->worker_config;
  lane(index).throttle.begin(static_cast<std::int64_t>(request.idempotency_keys.size()));
  calls_.ask(AskAllocation{provider.id, std::move(request)}, std::move(call));
}

}  // namespace muster::fleet
