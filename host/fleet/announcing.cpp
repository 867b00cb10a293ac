// Workers that nobody launches: machines whose owner says that they are there.
#include <algorithm>

#include <muster/codec.hpp>

#include "host/fleet/changing.hpp"

namespace muster::fleet {
namespace {

Worker described(const AnnouncedWorker& announced) {
  Worker worker;
  worker.capacity =
      static_cast<std::int32_t>(std::clamp<std::int64_t>(announced.capacity, 1, largest_capacity));
  worker.expires = announced.expires;
  worker.provider_data = json::write(announced.provider_data);
  return worker;
}

bool same(const Worker& a, const Worker& b) {
  return a.capacity == b.capacity && a.expires == b.expires && a.provider_data == b.provider_data;
}

}  // namespace

// The launch configuration that it stands under: the pool's only one of that provider.
Result<Index> Fleet::place_of(const AnnouncedWorker& announced) const {
  const Pool* pool = find_pool(announced.name.worker_pool_id);
  if (!pool || !pool->spec)
    return Error::not_found("there is no worker pool " + announced.name.worker_pool_id.str());
  for (const Index at : pool->launch_configs)
    if (launch_configs_[at].status != LaunchConfigStatus::archived &&
        launch_configs_[at].spec->provider_id == announced.provider_id)
      return at;
  return Error::invalid("worker pool " + pool->id.str() + " has no launch configuration of " +
                        announced.provider_id.str() + " that the worker could stand under");
}

Result<void> Fleet::announce_worker(const AnnouncedWorker& announced, Now now) {
  begin(now);
  const auto launch_config = place_of(announced);
  if (!launch_config) return launch_config.error();
  if (announced.expires <= now.wall)
    return Error::invalid("the worker's expiry must be in the future, not at " +
                          format_time(announced.expires));
  Worker worker = described(announced);
  worker.provider = launch_configs_[*launch_config].provider;
  const Index known =
      lookup(worker.provider, announced.name.worker_group.str(), announced.name.worker_id.str());
  if (known != nowhere) {
    const Worker& there = workers_[known];
    const bool same_pool = pools_[there.pool].id == announced.name.worker_pool_id;
    if (there.state == WorkerState::running && same_pool && same(there, worker)) return {};
    if (there.state != WorkerState::stopped)
      return Error::invalid(in_words(announced.name) + " is there already" +
                            (same_pool ? " and differs" : ", in another pool"))
          .with_code("conflict");
    erase_worker(known);  // it was removed; this is its next life
  }
  worker.number = next_number();
  worker.pool = launch_configs_[*launch_config].pool;
  worker.launch_config = *launch_config;
  worker.group = index_of_group(announced.name.worker_group.str());
  worker.worker_id = announced.name.worker_id.str();
  worker.state = WorkerState::running;
  worker.phase = LaunchPhase::launched;
  worker.epoch = epoch_;
  worker.created = worker.since = worker.last_active = now.wall;
  worker.reason = "announced; has not registered yet";
  const Index added = add_worker(std::move(worker));
  { Changing changing(*this, added); }
  happen("worker-launched", workers_[added], "announced by its owner");
  wake(workers_[added].pool);
  return {};
}

Result<void> Fleet::update_announced_worker(const AnnouncedWorker& announced, Now now) {
  begin(now);
  const Index known = lookup(announced.name);
  if (known == nowhere || workers_[known].state == WorkerState::stopped)
    return Error::not_found(in_words(announced.name) + " is not there");
  if (!workers_[known].announced())
    return Error::invalid(in_words(announced.name) +
                          " was launched and is not its owner's to change");
  const Worker wanted = described(announced);
  Changing worker(*this, known);
  worker->capacity = wanted.capacity;
  if (worker->busy > worker->capacity) worker->busy = worker->capacity;
  worker->expires = wanted.expires;
  worker->provider_data = wanted.provider_data;
  return {};
}

}  // namespace muster::fleet
