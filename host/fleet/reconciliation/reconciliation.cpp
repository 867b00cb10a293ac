#include "host/fleet/reconciliation/reconciliation.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <muster/codec.hpp>

namespace muster::fleet {
namespace {

// Of one listing. Those that are left over are there in the next one, too.
constexpr std::size_t most_strangers_ended = 100;
// Instances that are unwanted, and are kept as workers until they are gone; of one listing, too.
constexpr int most_unwanted = 20;

std::string name_of(const Instance& instance) {
  return instance.worker_group.str() + "/" + instance.worker_id.str();
}

}  // namespace

Reconciliation::Watch& Reconciliation::watch(Index provider) {
  if (provider >= watches_.size()) watches_.resize(provider + 1);
  return watches_[provider];
}

void Reconciliation::pools_are_configured() {
  if (std::exchange(configured_, true) || !settings_.list_before_launches) return;
  for (Index provider = 0; provider < providers_.size(); ++provider)
    registry_.list_by(provider, clock_.now());
}

// What became of what is ours is asked at once.
void Reconciliation::provider_up(Index provider) {
  providers_[provider].list_at = watch(provider).notices_at = clock_.now();
  // Whether it has said that it ends them is not written down.
  for (Index at = 0; at < workers_.size(); ++at)
    if (const Worker& worker = workers_[at]; worker.state == WorkerState::stopping &&
                                             worker.provider == provider && worker.number != 0 &&
                                             has_instance(worker) && !worker.ends)
      termination_.request(at);
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
    watch.for_pools = configured_;
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
  for (const Notices::FailedLaunch& failed : answer->failed_launches) {
    const Index index = table_.find(failed.idempotency_key, identity_);
    if (index != no_index && workers_[index].provider == call.provider)
      dispatcher_.failed_later(index, failed.error);
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
  Seen seen{std::vector<bool>(workers_.size(), false), std::vector<bool>(workers_.size(), false)};
  unknown_.clear();
  strangers_.clear();
  unwanted_ = 0;
  for (const Instance* instance : own_instances(call.provider, *answer)) {
    const Index index = reconcile_instance(call.provider, *instance);
    if (index == no_index || index >= seen.listed.size()) continue;
    (instance->state == InstanceState::stopped ? seen.stopped : seen.listed)[index] = true;
  }
  // What the list confirms counts before there is room for what it has beside that.
  for (const Instance* instance : unknown_) take_in(call.provider, *instance);
  end_strangers(call.provider);
  watch(call.provider).duplicates = std::exchange(duplicates_, {});
  machines_.follow(call.provider, *answer, seen);
  absent_.follow(call.provider, seen, *answer, call.began);
  provider.listed = call.began;
  if (watch(call.provider).for_pools) lists_are_known(call.provider);
  if (providers_[call.provider].unsure > 0) list_soon(call.provider);
}

void Reconciliation::lists_are_known(Index provider) {
  if (std::exchange(providers_[provider].listed_for_pools, true) || !settings_.list_before_launches)
    return;
  for (Index pool = 0; pool < pools_.size(); ++pool) agenda_.wake(pool);
  if (!awaits_lists()) outbox_.note_of_host(HostRow::lists_awaited, "no");
}

bool Reconciliation::awaits_lists() const {
  return settings_.list_before_launches &&
         std::ranges::any_of(launch_configs_, [&](const LaunchConfigState& launch_config) {
           return !launch_config.removed() && !providers_[launch_config.provider].listed_for_pools;
         });
}

// Each once: of two that have the same name, the one that is there.
std::vector<const Instance*> Reconciliation::own_instances(Index provider,
                                                           const Listing& listing) const {
  std::vector<const Instance*> instances;
  std::map<std::string, std::size_t> places;
  const auto is_tagged_otherwise = [](const Instance& instance, const char* tag,
                                      const std::string& own) {
    const auto found = instance.tags.find(tag);
    return found != instance.tags.end() && found->second != own;
  };
  for (const Instance& instance : listing.instances) {
    // Another host's, or of another provider of this host in the same account.
    if (is_tagged_otherwise(instance, "muster-host", identity_.host_id) ||
        is_tagged_otherwise(instance, "muster-provider", providers_[provider].id.str()))
      continue;
    const auto [place, first] = places.try_emplace(name_of(instance), instances.size());
    if (first)
      instances.push_back(&instance);
    else if (instances[place->second]->state == InstanceState::stopped)
      instances[place->second] = &instance;
  }
  return instances;
}

// Returns the worker that the instance belongs to; no_index if none.
Index Reconciliation::reconcile_instance(Index provider, const Instance& instance) {
  Index index = table_.lookup(provider, instance.worker_group.str(), instance.worker_id.str());
  if (index == no_index) {
    index = table_.find(instance.idempotency_key, identity_);
    if (index == no_index) {
      unknown_.push_back(&instance);
      return no_index;
    }
    if (workers_[index].provider != provider) return no_index;  // that one's provider has it
    if (has_instance(workers_[index])) {
      duplicates_.insert(name_of(instance));
      termination_.end_duplicate(index, instance,
                                 !watch(provider).duplicates.contains(name_of(instance)));
      return no_index;
    }
    if (instance.state == InstanceState::stopped) return no_index;
    dispatcher_.launched(index, instance);  // the answer to its launch was lost
    agenda_.wake(workers_[index].pool);
  }
  const Worker& worker = workers_[index];
  if (worker.declared()) return no_index;  // of the same name, and no instance
  if (instance.state == InstanceState::stopped) return index;
  table_.confirm(index);
  if (worker.state == WorkerState::stopped) {
    // It should be gone and is not.
    termination_.revive(index);
    termination_.request(index);
    return index;
  }
  if (worker.missing != 0) table_.note_missing(index, 0, {});
  if (instance.interruption) draining_.interrupt(index, *instance.interruption);
  return index;
}

// An instance with our tags that no worker stands for: of a store that was lost or set back. It is
// taken in if its pool still wants such a worker, else it ends. Workers that only the store knows
// may have ended since: they are no reason to end what is there. They still count in the limits of
// launches.
void Reconciliation::take_in(Index provider, const Instance& instance) {
  if (instance.state == InstanceState::stopped || instance.state == InstanceState::stopping) return;
  if (registry_.protected_rows().may_own(providers_[provider].id, instance)) return;
  const Index pool = registry_.find_pool_index(instance.worker_pool_id);
  const Index launch_config =
      pool == no_index ? no_index
                       : registry_.find_launch_config(pools_[pool], instance.launch_config_id);
  if (launch_config == no_index || launch_configs_[launch_config].provider != provider) {
    // Before the first configuration it is not known which pools there are.
    if (configured_) strangers_.push_back(&instance);
    return;
  }
  // Its number may be anybody's by now. It gets one of its own, of this epoch: with the epoch of
  // the instance its key could be that of another instance, which would then be taken for a second
  // launch of this one. It may have registered, and comes back when it renews what it has.
  Worker worker;
  worker.number = outbox_.next_number();
  worker.pool = pool;
  worker.launch_config = launch_config;
  worker.provider = provider;
  worker.phase = LaunchPhase::launched;
  worker.capacity =
      static_cast<std::int32_t>(std::clamp<std::int64_t>(instance.capacity, 1, 1'000'000));
  worker.epoch = identity_.epoch;
  worker.created = worker.since = clock_.now();
  worker.credentials_expire = clock_.now() + registry_.lifecycle_of(worker).reregistration_timeout;
  worker.reason = "found at the provider, unknown to this host";
  worker.group = registry_.index_of_group(instance.worker_group.str());
  worker.worker_id = instance.worker_id.str();
  worker.provider_data = json::write(instance.provider_data);
  const LaunchConfigState& state = launch_configs_[launch_config];
  const bool wanted =
      pools_[pool].spec && state.status != LaunchConfigStatus::archived &&
      registry_.capacity_room(pool, launch_config, Registry::Counted::confirmed) >= worker.capacity;
  // A listing that invents instances must not fill the store.
  if (!wanted && ++unwanted_ > most_unwanted) return strangers_.push_back(&instance);
  // One that cannot be taken in within the limits must not count against them either.
  if (!wanted) worker.state = WorkerState::stopping;
  worker.ends = !wanted;
  const Index index = table_.add(std::move(worker));
  outbox_.journal(
      pools_[pool], "lifecycle",
      "instance " + instance.worker_id.str() + " of " + providers_[provider].id.str() +
          " was not known: " + (wanted ? "adopted" : "ended, because there is no room for it"),
      {{"workerId", instance.worker_id.str()}, {"epoch", instance.epoch}}, {});
  if (!wanted) termination_.request(index);
}

// Of a pool or launch configuration that is not known: nothing to count them under, so they are
// ended directly, and told once as long as they are listed.
void Reconciliation::end_strangers(Index index) {
  const ProviderState& provider = providers_[index];
  std::set<std::string> names;
  std::vector<WorkerRef> ending;
  for (const Instance* instance : strangers_) {
    if (ending.size() >= most_strangers_ended) break;
    ending.push_back({instance->worker_group, instance->worker_id, instance->provider_data});
    names.insert(name_of(*instance));
    if (watch(index).strangers.contains(name_of(*instance))) continue;
    outbox_.emit_event("instance-unknown", provider,
                       "instance " + instance->worker_id.str() + " of " + provider.id.str() +
                           " belongs to nothing that is known and is ended",
                       {{"workerPoolId", instance->worker_pool_id.str()},
                        {"workerGroup", instance->worker_group.str()},
                        {"workerId", instance->worker_id.str()}});
  }
  watch(index).strangers = std::move(names);
  strangers_.clear();
  if (!ending.empty())
    termination_.end_instances(index, std::move(ending), "it belongs to no pool that is known");
}

}  // namespace muster::fleet
