#include "host/fleet/reconciliation/reconciliation.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "host/fleet/reconciliation/listing_scope.hpp"

namespace muster::fleet {
namespace {

// A worker is gone when so many good listings in a row do not show it: clouds forget for a moment.
constexpr std::uint8_t listings_to_be_gone = 2;
// A listing that lacks more than half of this many workers at once is not believed so soon.
constexpr std::size_t suspicious_from = 8;
constexpr std::int64_t listings_to_be_believed = 5;

}  // namespace

Reconciliation::Watch& Reconciliation::watch(Index provider) {
  if (provider >= watches_.size()) watches_.resize(provider + 1);
  return watches_[provider];
}

// What became of what is ours is asked at once.
void Reconciliation::provider_up(Index provider) {
  providers_[provider].list_at = watch(provider).notices_at = clock_.now();
}

void Reconciliation::clock_was_set() {
  for (Index provider = 0; provider < providers_.size(); ++provider) {
    registry_.list_by(provider, clock_.now() + settings_.list_every);
    Time& notices_at = watch(provider).notices_at;
    notices_at = std::min(notices_at, clock_.now() + settings_.notices_every);
  }
}

Time Reconciliation::next_wake() const {
  Time next = Time::max();
  for (Index at = 0; at < providers_.size(); ++at) {
    const ProviderState& provider = providers_[at];
    if (!provider.up) continue;
    const Watch watch = at < watches_.size() ? watches_[at] : Watch{};
    if (watch.listing == 0) next = std::min(next, provider.list_at);
    if (provider.has_notices && watch.noticing == 0) next = std::min(next, watch.notices_at);
  }
  return next;
}

void Reconciliation::ask(Index index) {
  ProviderState& provider = providers_[index];
  if (!provider.up) return;
  Watch& watch = this->watch(index);
  const Time now = clock_.now();
  if (watch.listing == 0 && provider.list_at <= now) {
    provider.list_at = now + settings_.list_every;
    watch.listing =
        calls_.ask(AskListing{provider.id, {identity_.owner_of(provider.id)}}, {.provider = index});
  }
  if (provider.has_notices && watch.noticing == 0 && watch.notices_at <= now) {
    watch.notices_at = now + settings_.notices_every;
    watch.noticing =
        calls_.ask(AskNotices{provider.id, {identity_.owner_of(provider.id)}}, {.provider = index});
  }
}

void Reconciliation::noticed(const PendingCall& call, const Result<Notices>& answer) {
  watch(call.provider).noticing = 0;
  if (!answer) return;  // the next one is due soon, and listings tell of interruptions, too
  for (const Notices::Notice& notice : answer->notices) {
    const Index index =
        table_.lookup(call.provider, notice.worker_group.str(), notice.worker_id.str());
    if (index != no_index) draining_.interrupt(index, notice.interruption);
  }
}

void Reconciliation::listed(const PendingCall& call, const Result<Listing>& answer) {
  ProviderState& provider = providers_[call.provider];
  watch(call.provider).listing = 0;
  if (!answer) {
    registry_.provider_trouble(call.provider, answer.error().message, clock_.now());
    provider.list_at = clock_.now() + std::min(settings_.list_every, 4 * settings_.list_soon);
    return;
  }
  registry_.provider_fine(call.provider);
  std::vector<bool> seen(workers_.size(), false);
  for (const Instance& instance : answer->instances) {
    const auto host = instance.tags.find("muster-host");
    if (host != instance.tags.end() && host->second != identity_.host_id)
      continue;  // another's, not ours
    const Index index = reconcile_instance(call.provider, instance);
    if (index != no_index && index < seen.size()) seen[index] = true;
  }
  missing_instances(call.provider, seen, *answer, call.began);
  machines_.follow(call.provider, *answer);
  provider.listed = call.began;
  if (providers_[call.provider].unsure > 0) list_soon(call.provider);
}

// Returns the worker that the instance belongs to; no_index if none.
Index Reconciliation::reconcile_instance(Index provider, const Instance& instance) {
  Index index = table_.lookup(provider, instance.worker_group.str(), instance.worker_id.str());
  if (index == no_index) {
    index = table_.find(instance.idempotency_key, identity_);
    if (index == no_index || workers_[index].provider != provider) {
      unknown_instance(provider, instance);
      return no_index;
    }
    if (has_instance(workers_[index])) {
      termination_.end_duplicate(index, instance);
      return no_index;
    }
    if (instance.state == InstanceState::stopped) return no_index;
    dispatcher_.launched(index, instance);  // the answer to its launch was lost
    agenda_.wake(workers_[index].pool);
  }
  const Worker& worker = workers_[index];
  if (worker.declared()) return no_index;  // of the same name, and no instance
  if (instance.state == InstanceState::stopped) {
    if (is_alive(worker))
      termination_.gone(
          index, worker.state == WorkerState::stopping ? worker.reason : "the provider stopped it");
    return index;
  }
  if (worker.state == WorkerState::stopped) {
    // It should be gone and is not.
    termination_.revive(index);
    termination_.request(index);
    return index;
  }
  if (worker.missing != 0) WorkerEdit(table_, index)->missing = 0;
  if (instance.interruption) draining_.interrupt(index, *instance.interruption);
  return index;
}

// An instance with our tags that no worker stands for: of a store that was lost or set back. It is
// taken in if its pool still wants such a worker, else it ends.
void Reconciliation::unknown_instance(Index provider, const Instance& instance) {
  if (instance.state == InstanceState::stopped || instance.state == InstanceState::stopping) return;
  if (registry_.protected_rows().may_own(providers_[provider].id, instance)) return;
  const Index pool = registry_.find_pool_index(instance.worker_pool_id);
  const Index launch_config =
      pool == no_index ? no_index
                       : registry_.find_launch_config(pools_[pool], instance.launch_config_id);
  if (launch_config == no_index || launch_configs_[launch_config].provider != provider) {
    // Before the first configuration it is not known which pools there are.
    if (configured_) end_stranger(provider, instance);
    return;
  }
  // Its number may be anybody's by now; it gets one of its own, as a worker of its own epoch.
  Worker worker;
  worker.number = outbox_.next_number();
  worker.pool = pool;
  worker.launch_config = launch_config;
  worker.provider = provider;
  worker.phase = LaunchPhase::launched;
  worker.capacity =
      static_cast<std::int32_t>(std::clamp<std::int64_t>(instance.capacity, 1, 1'000'000));
  worker.epoch = instance.epoch;
  worker.created = worker.since = clock_.now();
  worker.reason = "found at the provider, unknown to this host";
  worker.group = registry_.index_of_group(instance.worker_group.str());
  worker.worker_id = instance.worker_id.str();
  worker.provider_data = json::write(instance.provider_data);
  const LaunchConfigState& state = launch_configs_[launch_config];
  const bool wanted = pools_[pool].spec && state.status != LaunchConfigStatus::archived &&
                      registry_.capacity_room(pool, launch_config) >= worker.capacity;
  // One that cannot be taken in within the limits must not count against them either.
  if (!wanted) worker.state = WorkerState::stopping;
  const Index index = table_.add(std::move(worker));
  outbox_.journal(
      pools_[pool], "lifecycle",
      "instance " + instance.worker_id.str() + " of " + providers_[provider].id.str() +
          " was not known: " + (wanted ? "adopted" : "ended, because there is no room for it"),
      {{"workerId", instance.worker_id.str()}, {"epoch", instance.epoch}}, {});
  if (!wanted) termination_.request(index);
}

// Of a pool or launch configuration that is not known: nothing to count it under, so it is ended
// directly.
void Reconciliation::end_stranger(Index index, const Instance& instance) {
  const ProviderState& provider = providers_[index];
  outbox_.emit_event("instance-unknown", provider,
                     "instance " + instance.worker_id.str() + " of " + provider.id.str() +
                         " belongs to nothing that is known and is ended",
                     {{"workerPoolId", instance.worker_pool_id.str()},
                      {"workerGroup", instance.worker_group.str()},
                      {"workerId", instance.worker_id.str()}});
  termination_.end_instance(index, instance, "it belongs to no pool that is known");
}

// -------------------------------------------------------------------------------------------------
// What a listing does not show

void Reconciliation::missing_instances(Index index, const std::vector<bool>& seen,
                                       const Listing& listing, Time began) {
  Watch& watch = this->watch(index);
  std::vector<Index> missing, ended;
  std::size_t expected = 0;
  for (Index at = 0; at < seen.size(); ++at) {
    const Worker& worker = workers_[at];
    if (!is_alive(worker) || worker.provider != index || worker.declared()) continue;
    const LaunchConfig& launch_config = launch_configs_[worker.launch_config].spec->launch_config;
    const std::string& group =
        worker.group == no_index ? worker.worker_id : registry_.group_name(worker.group);
    if (hides(listing, group, launch_config)) continue;  // nothing is known
    if (!has_instance(worker)) {
      if (worker.phase == LaunchPhase::uncertain && !worker.called && worker.since < began)
        never_launched(at);
      continue;
    }
    const bool ends = worker.state == WorkerState::stopping;  // it is meant to disappear
    expected += !ends;
    if (seen[at] || worker.since >= began) continue;
    (ends ? ended : missing).push_back(at);
  }
  for (const Index at : ended) termination_.gone(at, workers_[at].reason);
  const bool suspicious = missing.size() >= suspicious_from && 2 * missing.size() > expected;
  watch.bad_listings = suspicious ? watch.bad_listings + 1 : 0;
  if (suspicious && watch.bad_listings < listings_to_be_believed) {
    registry_.provider_trouble(index,
                               "its listing lacks " + std::to_string(missing.size()) + " of " +
                                   std::to_string(expected) + " workers, which is not believed yet",
                               clock_.now());
    list_soon(index);
    return;
  }
  for (const Index at : missing) {
    // A worker that reported after the listing began is there, whatever the provider says.
    if (workers_[at].last_active >= began) continue;
    const int times = workers_[at].missing + 1;
    if (times >= listings_to_be_gone) {
      termination_.gone(at, "it vanished: the provider no longer lists it");
    } else {
      WorkerEdit(table_, at)->missing = static_cast<std::uint8_t>(times);
      list_soon(index);
    }
  }
}

// No answer came, and a listing that began later does not have it.
void Reconciliation::never_launched(Index index) {
  const Worker& worker = workers_[index];
  if (deadlines_.retries(worker) && worker.state == WorkerState::requested)
    return;  // its key is tried again first
  if (worker.state == WorkerState::requested) {
    launch_configs_[worker.launch_config].health.failed(clock_.now(), ErrorClass::transient);
    registry_.touch(worker.launch_config);
    ++pools_[worker.pool].failed;
  }
  termination_.stopped(index,
                       "it was never launched: no answer came, and the provider does not list it");
}

}  // namespace muster::fleet
