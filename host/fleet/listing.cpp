// What the providers say exists, against what the fleet believes.
#include <algorithm>
#include <unordered_set>

#include <muster/codec.hpp>

#include "host/fleet/changing.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;

// A worker is gone when so many good listings in a row do not show it: clouds forget for a moment.
constexpr std::uint8_t listings_to_be_gone = 2;
// A listing that lacks more than half of this many workers at once is not believed so soon.
constexpr std::size_t suspicious_from = 8;
constexpr std::int64_t listings_to_be_believed = 5;

bool covers(const Error& problem, const std::string& group, const LaunchConfig& launch_config) {
  const ErrorScope& scope = problem.scope;
  if (scope.whole_provider()) return true;
  const auto is = [&](const std::optional<std::string>& wanted, const char* fact) {
    if (!wanted) return true;
    const auto found = launch_config.placement.facts.find(fact);
    return *wanted == group ||
           (found != launch_config.placement.facts.end() && found->second == *wanted);
  };
  return is(scope.region, "region") &&
         (is(scope.zone, "availabilityZone") || is(scope.zone, "zone"));
}

}  // namespace

bool hides(const Listing& listing, const std::string& group, const LaunchConfig& launch_config) {
  return std::ranges::any_of(listing.problems, [&](const Error& problem) {
    return covers(problem, group, launch_config);
  });
}

void Fleet::list_soon(Index index) {
  ProviderState& provider = providers_[index];
  provider.list_at = std::min(provider.list_at, now_.wall + settings_.list_soon);
}

// Machines that could not be taken for want of this pool may be taken now.
void Fleet::list_refused(const Pool& pool) {
  for (const Index at : pool.launch_configs) {
    ProviderState& provider = providers_[launch_configs_[at].provider];
    if (!provider.refused_machines.empty())
      provider.list_at = std::min(provider.list_at, now_.wall);
  }
}

// Listings and notices that are due.
void Fleet::ask_around(Index index) {
  ProviderState& provider = providers_[index];
  if (!provider.up) return;
  const Time now = now_.wall;
  if (provider.listing == 0 && provider.list_at <= now) {
    provider.list_at = now + settings_.list_every;
    provider.listing = ask(AskListing{provider.id, {owner_of(provider)}}, {.provider = index});
  }
  if (provider.has_notices && provider.noticing == 0 && provider.notices_at <= now) {
    provider.notices_at = now + settings_.notices_every;
    provider.noticing = ask(AskNotices{provider.id, {owner_of(provider)}}, {.provider = index});
  }
}

void Fleet::provider_trouble(Index index, const Error& error) {
  ProviderState& provider = providers_[index];
  if (provider.trouble_since == Time{}) provider.trouble_since = now_.wall;
  provider.trouble = error.message;
}

void Fleet::provider_fine(Index index) {
  providers_[index].trouble_since = Time{};
  providers_[index].trouble.clear();
}

void Fleet::noticed(const PendingCall& open, Result<Notices> answer) {
  providers_[open.provider].noticing = 0;
  if (!answer) return;  // the next one is due soon, and listings tell of interruptions, too
  for (const Notices::Notice& notice : answer->notices) {
    const Index index = lookup(open.provider, notice.worker_group.str(), notice.worker_id.str());
    if (index != no_index) interrupted(index, notice.interruption);
  }
}

void Fleet::listed(const PendingCall& open, Result<Listing> answer) {
  ProviderState& provider = providers_[open.provider];
  provider.listing = 0;
  if (!answer) {
    provider_trouble(open.provider, answer.error());
    provider.list_at = now_.wall + std::min(settings_.list_every, 4 * settings_.list_soon);
    return;
  }
  provider_fine(open.provider);
  std::vector<bool> seen(workers_.size(), false);
  for (const Instance& instance : answer->instances) {
    const auto host = instance.tags.find("muster-host");
    if (host != instance.tags.end() && host->second != host_id_) continue;  // another's, not ours
    const Index index = reconcile_instance(open.provider, instance);
    if (index != no_index && index < seen.size()) seen[index] = true;
  }
  missing_instances(open.provider, seen, *answer, open.began);
  take_announced(open.provider, *answer);
  provider.listed = open.began;
  if (providers_[open.provider].unsure > 0) list_soon(open.provider);
}

// Returns the worker that the instance belongs to; no_index if none.
Index Fleet::reconcile_instance(Index provider, const Instance& instance) {
  Index index = lookup(provider, instance.worker_group.str(), instance.worker_id.str());
  if (index == no_index) {
    index = by_key(instance.idempotency_key);
    if (index == no_index || workers_[index].provider != provider) {
      unknown_instance(provider, instance);
      return no_index;
    }
    if (has_instance(workers_[index])) {
      launched_twice(index, instance);
      return no_index;
    }
    if (instance.state == InstanceState::stopped) return no_index;
    found_lost(index, instance);
  }
  const Worker& worker = workers_[index];
  if (worker.announced()) return no_index;  // of the same name, and no instance
  if (instance.state == InstanceState::stopped) {
    if (is_alive(worker))
      gone(index,
           worker.state == WorkerState::stopping ? worker.reason : "the provider stopped it");
    return index;
  }
  if (worker.state == WorkerState::stopped) {
    // It should be gone and is not.
    revive(index);
    ask_termination(index);
    return index;
  }
  if (worker.missing != 0) WorkerEdit(*this, index)->missing = 0;
  if (instance.interruption) interrupted(index, *instance.interruption);
  return index;
}

// The answer to its launch was lost, and here it is.
void Fleet::found_lost(Index index, const Instance& instance) {
  launched(index, instance);
  wake(workers_[index].pool);
}

Index Fleet::by_key(const IdempotencyKey& key) const {
  const std::string& text = key.str();
  const std::size_t dash = text.rfind('-');
  if (dash == std::string::npos || dash + 1 >= text.size() || text.size() - dash > 19)
    return no_index;
  std::int64_t number = 0;
  for (std::size_t i = dash + 1; i < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '9') return no_index;
    number = number * 10 + (text[i] - '0');
  }
  const auto found = by_number_.find(number);
  if (found == by_number_.end() || key_of(workers_[found->second]) != key) return no_index;
  return found->second;
}

// An instance with our tags that no worker stands for: of a store that was lost or set back. It is
// taken in if its pool still wants such a worker, else it ends.
void Fleet::unknown_instance(Index provider, const Instance& instance) {
  if (instance.state == InstanceState::stopped || instance.state == InstanceState::stopping) return;
  const auto at = pool_index_.find(instance.worker_pool_id);
  const Index pool = at == pool_index_.end() ? no_index : at->second;
  const Index launch_config =
      pool == no_index ? no_index : find_launch_config(pools_[pool], instance.launch_config_id);
  if (launch_config == no_index || launch_configs_[launch_config].provider != provider) {
    // Before the first configuration nobody can say what belongs to nothing.
    if (configuration_) end_stranger(provider, instance);
    return;
  }
  // Its number may be anybody's by now; it gets one of its own, as a worker of its own epoch.
  Worker worker;
  worker.number = next_number();
  worker.pool = pool;
  worker.launch_config = launch_config;
  worker.provider = provider;
  worker.phase = LaunchPhase::launched;
  worker.capacity =
      static_cast<std::int32_t>(std::clamp<std::int64_t>(instance.capacity, 1, 1'000'000));
  worker.epoch = instance.epoch;
  worker.created = worker.since = now_.wall;
  worker.reason = "found at the provider, unknown to this host";
  worker.group = index_of_group(instance.worker_group.str());
  worker.worker_id = instance.worker_id.str();
  worker.provider_data = json::write(instance.provider_data);
  const LaunchConfigState& state = launch_configs_[launch_config];
  const bool wanted = pools_[pool].spec && state.status != LaunchConfigStatus::archived &&
                      capacity_room(pool, launch_config) >= worker.capacity;
  // One that cannot be taken in within the limits must not count against them either.
  if (!wanted) worker.state = WorkerState::stopping;
  const Index index = add_worker(std::move(worker));
  { WorkerEdit changing(*this, index); }
  journal(pools_[pool], "lifecycle",
          "instance " + instance.worker_id.str() + " of " + providers_[provider].id.str() +
              " was not known: " + (wanted ? "adopted" : "ended, for there is no room for it"),
          {{"workerId", instance.worker_id.str()}, {"epoch", instance.epoch}}, {});
  if (!wanted) ask_termination(index);
}

// Of a pool or launch configuration that is not known: nothing to count it under, so it is ended
// directly.
void Fleet::end_stranger(Index index, const Instance& instance) {
  ProviderState& provider = providers_[index];
  emit_event("instance-unknown", provider,
             "instance " + instance.worker_id.str() + " of " + provider.id.str() +
                 " belongs to nothing that is known and is ended",
             {{"workerPoolId", instance.worker_pool_id.str()},
              {"workerGroup", instance.worker_group.str()},
              {"workerId", instance.worker_id.str()}});
  TerminateRequest request{
      .owner = owner_of(provider),
      .workers = {{instance.worker_group, instance.worker_id, instance.provider_data}},
      .reason = "it belongs to no pool that is known"};
  ask(AskTermination{provider.id, std::move(request)}, {.provider = index});
}

void Fleet::launched_twice(Index worker, const Instance& instance) {
  const Index index = workers_[worker].provider;
  if (instance.state == InstanceState::stopped || instance.state == InstanceState::stopping) return;
  ProviderState& provider = providers_[index];
  pool_error(workers_[worker], "provider-error", "was launched twice",
             "the provider made " + instance.worker_id.str() + " and " +
                 workers_[worker].worker_id + " for one launch; the former is ended");
  TerminateRequest request{
      .owner = owner_of(provider),
      .workers = {{instance.worker_group, instance.worker_id, instance.provider_data}},
      .reason = "the provider launched it twice"};
  ask(AskTermination{provider.id, std::move(request)}, {.provider = index});
}

// -------------------------------------------------------------------------------------------------
// What a listing does not show

void Fleet::missing_instances(Index index, const std::vector<bool>& seen, const Listing& listing,
                              Time began) {
  ProviderState& provider = providers_[index];
  std::vector<Index> missing, ended;
  std::size_t expected = 0;
  for (Index at = 0; at < seen.size(); ++at) {
    const Worker& worker = workers_[at];
    if (!is_alive(worker) || worker.provider != index || worker.announced()) continue;
    const LaunchConfig& launch_config = launch_configs_[worker.launch_config].spec->launch_config;
    const std::string& group = worker.group == no_index ? worker.worker_id : groups_[worker.group];
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
  for (const Index at : ended) gone(at, workers_[at].reason);
  const bool suspicious = missing.size() >= suspicious_from && 2 * missing.size() > expected;
  provider.bad_listings = suspicious ? provider.bad_listings + 1 : 0;
  if (suspicious && provider.bad_listings < listings_to_be_believed) {
    provider.trouble_since = provider.trouble_since == Time{} ? now_.wall : provider.trouble_since;
    provider.trouble = "its listing lacks " + std::to_string(missing.size()) + " of " +
                       std::to_string(expected) + " workers, which is not believed yet";
    list_soon(index);
    return;
  }
  for (const Index at : missing) {
    // Whoever was heard of after the listing began is there, whatever the provider says.
    if (workers_[at].last_active >= began) continue;
    const int times = workers_[at].missing + 1;
    if (times >= listings_to_be_gone) {
      gone(at, "it vanished: the provider no longer lists it");
    } else {
      WorkerEdit(*this, at)->missing = static_cast<std::uint8_t>(times);
      list_soon(index);
    }
  }
}

// No answer came, and a listing that began later does not have it.
void Fleet::never_launched(Index index) {
  Worker& worker = workers_[index];
  if (retries(worker) && worker.state == WorkerState::requested)
    return;  // its key is tried again first
  if (worker.state == WorkerState::requested) {
    launch_configs_[worker.launch_config].health.failed(now_.wall, ErrorClass::transient);
    touch(worker.launch_config);
    ++pools_[worker.pool].failed;
  }
  stopped(index, "it was never launched: no answer came, and the provider does not list it");
}

void Fleet::gone(Index index, std::string reason) {
  const Worker& worker = workers_[index];
  if (worker.state == WorkerState::requested) {
    launch_configs_[worker.launch_config].health.failed_later(now_.wall, ErrorClass::transient);
    touch(worker.launch_config);
    ++pools_[worker.pool].failed;
    pool_error(worker, "operation-error", "ended before it registered", reason);
  } else if (worker.state == WorkerState::running && worker.drain != Drain::interrupted) {
    pool_error(worker, "operation-error", "is gone", reason);
  }
  stopped(index, std::move(reason));
}

}  // namespace muster::fleet
