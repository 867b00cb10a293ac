// What waits in the queue is demand of the pools that could serve it.
#include <algorithm>

#include "host/fleet/changing.hpp"
#include "host/fleet/queue_facts.hpp"
#include "host/queue/queue.hpp"

namespace muster::fleet {

void Fleet::add_up_demand(Index index) {
  Pool& pool = pools_[index];
  PoolDemand is = pool.outside;
  is.pending = sensible_capacity(is.pending + pool.in_queue);
  if (is.pending == pool.demand.pending && is.claimed == pool.demand.claimed &&
      is.note == pool.demand.note)
    return;
  pool.demand = std::move(is);
  wake(index, true);
}

// Each request counts once: for the first pool in the order of its candidates that could launch a
// worker for it and has room to grow; if none has, for the first that could.
void Fleet::measure_queue() {
  if (!queue_->demand_changed() ||
      (now_.wall < queue_measured_ + settings_.decision_gap && now_.wall >= queue_measured_))
    return;
  queue_measured_ = now_.wall;
  std::vector<std::int64_t> queued(pools_.size());
  std::vector<Index> shared;
  for (const auto& [id, at] : pool_index_) {
    const queue::TeamPool* known = queue_->find_pool(id);
    if (pools_[at].spec && !pools_[at].removed() && !(known && known->dedicated))
      shared.push_back(at);
  }
  const auto could_serve = [&](Index at, const queue::Waiting& waiting) {
    return std::ranges::any_of(pools_[at].launch_configs, [&](Index launch_config) {
      const LaunchConfigState& state = launch_configs_[launch_config];
      return state.status != LaunchConfigStatus::archived &&
             serves(*state.spec, waiting.tags, waiting.largest);
    });
  };
  for (const queue::Waiting& waiting : queue_->take_demand()) {
    std::vector<Index> candidates;
    for (const WorkerPoolId& id : waiting.pools)
      if (const auto known = pool_index_.find(id); known != pool_index_.end())
        candidates.push_back(known->second);
    if (waiting.shared) std::ranges::copy(shared, std::back_inserter(candidates));
    std::int64_t left = waiting.capacity;
    Index first = nowhere;
    for (const Index at : candidates) {
      if (left == 0) break;
      if (!pools_[at].spec || !could_serve(at, waiting)) continue;
      if (first == nowhere) first = at;
      const std::int64_t room =
          pools_[at].spec->settings.max_capacity - pools_[at].totals.running - queued[at];
      const std::int64_t taken = std::clamp<std::int64_t>(room, 0, left);
      queued[at] += taken;
      left -= taken;
    }
    if (first != nowhere) queued[first] = sensible_capacity(queued[first] + left);
  }
  for (Index at = 0; at < pools_.size(); ++at) {
    if (pools_[at].removed() || pools_[at].in_queue == queued[at]) continue;
    pools_[at].in_queue = queued[at];
    add_up_demand(at);
  }
}

}  // namespace muster::fleet
