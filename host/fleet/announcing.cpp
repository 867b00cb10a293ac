// Workers that nobody launches: machines whose owner or provider says that they are there.
#include <algorithm>
#include <set>

#include <muster/codec.hpp>

#include "host/fleet/changing.hpp"

namespace muster::fleet {
namespace {

// Of one listing; they are told one by one.
constexpr std::size_t most_refused_machines = 100;

std::int32_t clamped(std::int64_t capacity) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(capacity, 1, largest_capacity));
}

Worker described(const AnnouncedWorker& announced) {
  Worker worker;
  worker.origin = Origin::owner;
  worker.capacity = clamped(announced.capacity);
  worker.expires = announced.expires;
  worker.provider_data = json::write(announced.provider_data);
  return worker;
}

bool same(const Worker& a, const Worker& b) {
  return a.origin == b.origin && a.capacity == b.capacity && a.expires == b.expires &&
         a.provider_data == b.provider_data;
}

const char* announced_by(Origin origin) {
  switch (origin) {
    case Origin::owner:
      return "declared by its owner";
    case Origin::listing:
      return "declared by its provider";
    default:
      return "let in by its provider";
  }
}

}  // namespace

// The launch configuration that it stands under: the pool's only one of that provider.
Result<Index> Fleet::place_of(const WorkerPoolId& id, const ProviderId& provider) const {
  const Pool* pool = find_pool(id);
  if (!pool || !pool->spec) return Error::not_found("there is no worker pool " + id.str());
  for (const Index at : pool->launch_configs)
    if (launch_configs_[at].status != LaunchConfigStatus::archived &&
        launch_configs_[at].spec->provider_id == provider)
      return at;
  return Error::invalid("worker pool " + id.str() + " has no launch configuration of " +
                        provider.str() + " that the worker could stand under");
}

// A machine that was not there, or has ended. It is absent until it registers.
Index Fleet::add_announced(Worker worker, const WorkerName& name, Index launch_config) {
  const Index before = lookup(launch_configs_[launch_config].provider, name.worker_group.str(),
                              name.worker_id.str());
  if (before != no_index) erase_worker(before);  // this is its next life
  worker.number = next_number();
  worker.provider = launch_configs_[launch_config].provider;
  worker.pool = launch_configs_[launch_config].pool;
  worker.launch_config = launch_config;
  worker.group = index_of_group(name.worker_group.str());
  worker.worker_id = name.worker_id.str();
  worker.state = WorkerState::running;
  worker.phase = LaunchPhase::launched;
  worker.drain = Drain::absent;
  worker.epoch = epoch_;
  worker.created = worker.since = worker.last_active = now_.wall;
  worker.reason = std::string(announced_by(worker.origin)) + "; has not registered yet";
  const Index added = add_worker(std::move(worker));
  { WorkerEdit changing(*this, added); }
  emit_event("worker-launched", workers_[added], announced_by(workers_[added].origin));
  wake(workers_[added].pool);
  return added;
}

// -------------------------------------------------------------------------------------------------
// By its owner

Result<void> Fleet::announce_worker(const AnnouncedWorker& announced, Now now) {
  begin(now);
  const auto launch_config = place_of(announced.name.worker_pool_id, announced.provider_id);
  if (!launch_config) return launch_config.error();
  if (announced.expires <= now.wall)
    return Error::invalid("the worker's expiry must be in the future, not at " +
                          format_time(announced.expires));
  Worker worker = described(announced);
  const Index known = lookup(launch_configs_[*launch_config].provider,
                             announced.name.worker_group.str(), announced.name.worker_id.str());
  if (known != no_index) {
    const Worker& there = workers_[known];
    const bool same_pool = pools_[there.pool].id == announced.name.worker_pool_id;
    if (there.state == WorkerState::running && same_pool && same(there, worker)) return {};
    if (there.state != WorkerState::stopped)
      return Error::invalid(in_words(announced.name) + " is there already" +
                            (same_pool ? " and differs" : ", in another pool"))
          .with_code("conflict");
  }
  add_announced(std::move(worker), announced.name, *launch_config);
  return {};
}

Result<void> Fleet::update_announced_worker(const AnnouncedWorker& announced, Now now) {
  begin(now);
  const Index known = lookup(announced.name);
  if (known == no_index || workers_[known].state == WorkerState::stopped)
    return Error::not_found(in_words(announced.name) + " is not there");
  if (workers_[known].origin == Origin::launched)
    return Error::invalid(in_words(announced.name) +
                          " was launched and is not its owner's to change");
  if (workers_[known].origin != Origin::owner)
    return Error::invalid(in_words(announced.name) + " was " +
                          announced_by(workers_[known].origin) +
                          ": change it in the configuration of " + announced.provider_id.str());
  const Worker wanted = described(announced);
  describe_again(known, wanted.capacity, wanted.provider_data);
  WorkerEdit(*this, known)->expires = wanted.expires;
  return {};
}

void Fleet::describe_again(Index index, std::int32_t capacity, std::string provider_data) {
  const bool larger = capacity != workers_[index].capacity;
  {
    WorkerEdit worker(*this, index);
    worker->capacity = capacity;
    worker->working = std::min(worker->working, capacity);
    worker->busy = std::min(worker->busy, capacity);
    worker->provider_data = std::move(provider_data);
  }
  if (larger) wake(workers_[index].pool);
}

// -------------------------------------------------------------------------------------------------
// By its provider, when it registers

Result<void> Fleet::admit(Index provider, const WorkerName& name, const Admission& admission) {
  const std::int32_t capacity = clamped(admission.capacity);
  std::string data = json::write(admission.provider_data);
  const Index known = lookup(provider, name.worker_group.str(), name.worker_id.str());
  if (known != no_index && is_alive(workers_[known])) {
    const Worker& there = workers_[known];
    if (pools_[there.pool].id != name.worker_pool_id)
      return Error::invalid("there is a worker " + name.worker_id.str() + " in " +
                            name.worker_group.str() + " already, in worker pool " +
                            pools_[there.pool].id.str());
    if (there.origin == Origin::admission &&
        (there.capacity != capacity || there.provider_data != data))
      describe_again(known, capacity, std::move(data));
    return {};  // whoever else made it known says what it is
  }
  const auto launch_config = place_of(name.worker_pool_id, providers_[provider].id);
  if (!launch_config) return launch_config.error();
  Worker worker;
  worker.origin = Origin::admission;
  worker.capacity = capacity;
  worker.provider_data = std::move(data);
  add_announced(std::move(worker), name, *launch_config);
  return {};
}

// -------------------------------------------------------------------------------------------------
// By its provider, which lists it

void Fleet::take_announced(Index index, const Listing& listing) {
  if (!providers_[index].announces && listing.announced.empty()) return;
  std::map<std::string, std::string> refused;
  std::set<std::string> names;
  for (const Instance& instance : listing.instances)
    names.insert(instance.worker_group.str() + "/" + instance.worker_id.str());
  std::vector<bool> named(workers_.size(), false);
  for (const AnnouncedMachine& machine : listing.announced) {
    std::string problem;
    const Index taken = take_machine(index, machine, names, problem);
    if (taken < named.size()) named[taken] = true;
    if (!problem.empty() && refused.size() < most_refused_machines)
      refused.emplace(shortened(machine.worker_group.str() + "/" + machine.worker_id.str()),
                      shortened(std::move(problem)));
  }
  for (Index at = 0; at < named.size(); ++at) {
    const Worker& worker = workers_[at];
    if (!named[at] && is_alive(worker) && worker.provider == index &&
        worker.origin == Origin::listing &&
        !hides(listing, groups_[worker.group],
               launch_configs_[worker.launch_config].spec->launch_config))
      stop(at, "provider " + providers_[index].id.str() + " no longer names it");
  }
  for (const auto& [name, why] : refused) {
    const auto before = providers_[index].refused_machines.find(name);
    if (before == providers_[index].refused_machines.end() || before->second != why)
      emit_event("machine-refused", providers_[index],
                 "machine " + name + " of " + providers_[index].id.str() + " is not taken: " + why,
                 {{"machine", name}, {"reason", why}});
  }
  providers_[index].refused_machines = std::move(refused);
}

// The worker that it is; no_index if it cannot be one. `problem`: what is wrong with it.
Index Fleet::take_machine(Index provider, const AnnouncedMachine& machine,
                          std::set<std::string>& names, std::string& problem) {
  const auto refuse = [&](std::string why) {
    problem = std::move(why);
    return no_index;
  };
  if (!providers_[provider].announces)
    return refuse("its provider does not have the capability " +
                  std::string(capability::announced_workers));
  if (!sensible(machine)) return refuse("its workerPoolId, workerGroup or workerId is not a name");
  if (!names.insert(machine.worker_group.str() + "/" + machine.worker_id.str()).second)
    return refuse("its provider lists this name twice");
  const WorkerName name{machine.worker_pool_id, machine.worker_group, machine.worker_id};
  Index known = lookup(provider, name.worker_group.str(), name.worker_id.str());
  if (known != no_index && !is_alive(workers_[known])) known = no_index;
  if (known != no_index && !workers_[known].announced())
    return refuse("a worker of this name was launched and has not ended");
  if (known != no_index && workers_[known].origin == Origin::owner)
    return refuse("its owner has declared it in worker pool " +
                  pools_[workers_[known].pool].id.str() +
                  ": remove it there, or from the provider's configuration");
  const auto launch_config = place_of(name.worker_pool_id, providers_[provider].id);
  if (!launch_config) return refuse(launch_config.error().message);
  const bool moved = known != no_index && pools_[workers_[known].pool].id != name.worker_pool_id;
  if (machine.capacity < 1 || machine.capacity > largest_capacity) {
    refuse("its capacity is " + std::to_string(machine.capacity));
    return moved ? no_index : known;  // it is there as it was
  }
  if (moved) {
    stop(known, "provider " + providers_[provider].id.str() + " has moved it to worker pool " +
                    name.worker_pool_id.str());
    known = no_index;
  }
  return follow(known, machine, *launch_config);
}

Index Fleet::follow(Index known, const AnnouncedMachine& machine, Index launch_config) {
  const std::int32_t capacity = clamped(machine.capacity);
  std::string data = json::write(machine.provider_data);
  if (known == no_index) {
    Worker worker;
    worker.origin = Origin::listing;
    worker.capacity = capacity;
    worker.provider_data = std::move(data);
    return add_announced(std::move(worker),
                         {machine.worker_pool_id, machine.worker_group, machine.worker_id},
                         launch_config);
  }
  // One that had come by itself is named now.
  if (workers_[known].origin != Origin::listing) WorkerEdit(*this, known)->origin = Origin::listing;
  if (workers_[known].capacity != capacity || workers_[known].provider_data != data)
    describe_again(known, capacity, std::move(data));
  return known;
}

}  // namespace muster::fleet
