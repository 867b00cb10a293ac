#include "host/fleet/lifecycle/declared_machines.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "host/fleet/model/sanitize.hpp"
#include "host/fleet/model/words.hpp"

namespace muster::fleet {
namespace {

constexpr std::size_t most_declared = 20'000;  // workers of a pool, all of them counted

Worker described(const DeclaredWorker& declared) {
  Worker worker;
  worker.origin = Origin::owner;
  worker.capacity = machine_capacity(declared.capacity);
  worker.expires = declared.expires;
  worker.provider_data = json::write(declared.provider_data);
  return worker;
}

// Not until when: a client that declares it again counts from its own now.
bool same(const Worker& a, const Worker& b) {
  return a.origin == b.origin && a.capacity == b.capacity && a.provider_data == b.provider_data;
}

const char* declared_by(Origin origin) {
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

std::int32_t machine_capacity(std::int64_t capacity) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(capacity, 1, largest_capacity));
}

Index DeclaredMachines::add(Worker worker, const WorkerName& name, Index launch_config) {
  const Index before = table_.lookup(launch_configs_[launch_config].provider, name);
  const bool elsewhere = before != no_index && worker.origin == Origin::owner &&
                         pools_[workers_[before].pool].id != name.worker_pool_id;
  if (before != no_index && !elsewhere) termination_.forget(before);  // this is its next life
  worker.number = outbox_.next_number();
  worker.provider = launch_configs_[launch_config].provider;
  worker.pool = launch_configs_[launch_config].pool;
  worker.launch_config = launch_config;
  worker.group = registry_.index_of_group(name.worker_group.str());
  worker.worker_id = name.worker_id.str();
  worker.state = WorkerState::running;
  worker.phase = LaunchPhase::launched;
  worker.drain = Drain::absent;
  worker.epoch = identity_.epoch;
  worker.created = worker.since = worker.last_active = clock_.now();
  worker.reason = std::string(declared_by(worker.origin)) + "; has not registered yet";
  const Index added = table_.add(std::move(worker));
  outbox_.emit_event("worker-launched", workers_[added], declared_by(workers_[added].origin));
  agenda_.wake(workers_[added].pool);
  return added;
}

// -------------------------------------------------------------------------------------------------
// By its owner

Result<void> DeclaredMachines::declare(const DeclaredWorker& declared) {
  const auto launch_config = registry_.place_of(declared.name.worker_pool_id, declared.provider_id);
  if (!launch_config) return launch_config.error();
  if (declared.expires <= clock_.now())
    return Error::invalid("the worker's expiry must be in the future, not at " +
                          format_time(declared.expires));
  Worker worker = described(declared);
  const Index known = table_.lookup(declared.name);
  if (known != no_index) {
    const Worker& there = workers_[known];
    const bool same_provider = there.provider == launch_configs_[*launch_config].provider;
    if (there.state == WorkerState::running && same_provider && same(there, worker)) return {};
    if (there.state != WorkerState::stopped)
      return Error::invalid(in_words(declared.name) + " is there already" +
                            (same_provider ? " and differs" : ", of another provider"))
          .with_code("conflict");
  }
  const Pool& pool = pools_[launch_configs_[*launch_config].pool];
  if (pool.workers.size() >= most_declared)
    return Error::invalid("worker pool " + pool.id.str() + " has " + std::to_string(most_declared) +
                          " workers, and no more can be declared; remove one first");
  add(std::move(worker), declared.name, *launch_config);
  return {};
}

Result<void> DeclaredMachines::update(const DeclaredWorker& declared) {
  const Index known = table_.lookup(declared.name);
  if (known == no_index || workers_[known].state == WorkerState::stopped)
    return Error::not_found(in_words(declared.name) + " is not there");
  if (workers_[known].origin == Origin::launched)
    return Error::invalid(in_words(declared.name) +
                          " was launched and is not its owner's to change");
  if (workers_[known].origin != Origin::owner)
    return Error::invalid(in_words(declared.name) + " was " + declared_by(workers_[known].origin) +
                          ": change it in the configuration of " + declared.provider_id.str());
  const Worker wanted = described(declared);
  describe(known, wanted.capacity, wanted.provider_data);
  WorkerEdit(table_, known)->expires = wanted.expires;
  return {};
}

void DeclaredMachines::describe(Index index, std::int32_t capacity, std::string provider_data) {
  const bool larger = capacity != workers_[index].capacity;
  {
    WorkerEdit worker(table_, index);
    worker->capacity = capacity;
    worker->working = std::min(worker->working, capacity);
    worker->busy = std::min(worker->busy, capacity);
    worker->provider_data = std::move(provider_data);
  }
  if (larger) agenda_.wake(workers_[index].pool);
}

// -------------------------------------------------------------------------------------------------
// By its provider, when it registers

Result<void> DeclaredMachines::admit(Index provider, const WorkerName& name,
                                     const Admission& admission) {
  const std::int32_t capacity = machine_capacity(admission.capacity);
  std::string data = json::write(admission.provider_data);
  const Index known = table_.lookup(provider, name);
  if (known != no_index && is_alive(workers_[known])) {
    const Worker& there = workers_[known];
    if (pools_[there.pool].id != name.worker_pool_id)
      return Error::invalid("there is a worker " + name.worker_id.str() + " in " +
                            name.worker_group.str() + " already, in worker pool " +
                            pools_[there.pool].id.str());
    if (there.origin == Origin::admission &&
        (there.capacity != capacity || there.provider_data != data))
      describe(known, capacity, std::move(data));
    return {};  // its owner or its provider's listing says what it is
  }
  const auto launch_config = registry_.place_of(name.worker_pool_id, providers_[provider].id);
  if (!launch_config) return launch_config.error();
  Worker worker;
  worker.origin = Origin::admission;
  worker.capacity = capacity;
  worker.provider_data = std::move(data);
  add(std::move(worker), name, *launch_config);
  return {};
}

}  // namespace muster::fleet
