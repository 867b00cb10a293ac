#include "host/fleet/reconciliation/listed_machines.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "host/fleet/model/sanitize.hpp"

namespace muster::fleet {
namespace {

// Of one listing; each has its event.
constexpr std::size_t most_refused_machines = 100;

}  // namespace

void ListedMachines::list_refused(const Pool& pool) {
  for (const Index at : pool.launch_configs) {
    const Index provider = launch_configs_[at].provider;
    if (provider < refused_.size() && !refused_[provider].empty())
      registry_.list_by(provider, clock_.now());
  }
}

void ListedMachines::follow(Index index, const Listing& listing, Seen& seen) {
  if (!providers_[index].declares_machines && listing.announced.empty()) return;
  if (index >= refused_.size()) refused_.resize(index + 1);
  std::map<std::string, std::string> refused;
  std::set<std::string> names;
  for (const Instance& instance : listing.instances)
    names.insert(instance.worker_group.str() + "/" + instance.worker_id.str());
  for (const AnnouncedMachine& machine : listing.announced) {
    std::string problem;
    const Index taken = take(index, machine, names, problem);
    if (taken < seen.listed.size()) {
      seen.listed[taken] = true;
      if (workers_[taken].missing != 0) table_.note_missing(taken, 0, {});
    }
    if (!problem.empty() && refused.size() < most_refused_machines)
      refused.emplace(shortened(machine.worker_group.str() + "/" + machine.worker_id.str()),
                      shortened(std::move(problem)));
  }
  for (const auto& [name, why] : refused) {
    const auto before = refused_[index].find(name);
    if (before == refused_[index].end() || before->second != why)
      outbox_.emit_event(
          "machine-refused", providers_[index],
          "machine " + name + " of " + providers_[index].id.str() + " is not taken: " + why,
          {{"machine", name}, {"reason", why}});
  }
  refused_[index] = std::move(refused);
}

Index ListedMachines::take(Index provider, const AnnouncedMachine& machine,
                           std::set<std::string>& names, std::string& problem) {
  const auto refuse = [&](std::string why) {
    problem = std::move(why);
    return no_index;
  };
  if (!providers_[provider].declares_machines)
    return refuse("its provider does not have the capability " +
                  std::string(capability::announced_workers));
  if (!has_valid_names(machine))
    return refuse("its workerPoolId, workerGroup or workerId is not a name");
  if (!names.insert(machine.worker_group.str() + "/" + machine.worker_id.str()).second)
    return refuse("its provider lists this name twice");
  const WorkerName name{machine.worker_pool_id, machine.worker_group, machine.worker_id};
  Index known = table_.lookup(provider, name);
  if (known != no_index && !is_alive(workers_[known])) known = no_index;
  if (known != no_index && !workers_[known].declared())
    return refuse("a worker of this name was launched and has not ended");
  if (known != no_index && workers_[known].origin == Origin::owner)
    return refuse("its owner has declared it in worker pool " +
                  pools_[workers_[known].pool].id.str() +
                  ": remove it there, or from the provider's configuration");
  const auto launch_config = registry_.place_of(name.worker_pool_id, providers_[provider].id);
  if (!launch_config) return refuse(launch_config.error().message);
  const bool moved = known != no_index && pools_[workers_[known].pool].id != name.worker_pool_id;
  if (machine.capacity < 1 || machine.capacity > largest_capacity) {
    refuse("its capacity is " + std::to_string(machine.capacity));
    return moved ? no_index : known;  // it is there as it was
  }
  if (moved) {
    termination_.stop(known, "provider " + providers_[provider].id.str() +
                                 " has moved it to worker pool " + name.worker_pool_id.str());
    known = no_index;
  }
  return update(known, machine, *launch_config);
}

Index ListedMachines::update(Index known, const AnnouncedMachine& machine, Index launch_config) {
  const std::int32_t capacity = machine_capacity(machine.capacity);
  std::string data = json::write(machine.provider_data);
  if (known == no_index) {
    Worker worker;
    worker.origin = Origin::listing;
    worker.capacity = capacity;
    worker.provider_data = std::move(data);
    return machines_.add(std::move(worker),
                         {machine.worker_pool_id, machine.worker_group, machine.worker_id},
                         launch_config);
  }
  // One that had come by itself is named now.
  if (workers_[known].origin != Origin::listing)
    WorkerEdit(table_, known)->origin = Origin::listing;
  if (workers_[known].capacity != capacity || workers_[known].provider_data != data)
    machines_.describe(known, capacity, std::move(data));
  return known;
}

}  // namespace muster::fleet
