// What waits in the queue is demand of the pools that could serve it.
#include <algorithm>
#include <cmath>

#include "host/fleet/changing.hpp"
#include "host/fleet/model/queue_facts.hpp"
#include "host/fleet/model/sanitize.hpp"
#include "host/queue/queue.hpp"

namespace muster::fleet {

void Fleet::add_up_demand(Index index) {
  Pool& pool = pools_[index];
  PoolDemand is = pool.outside;
  is.pending = clamp_capacity(is.pending + pool.in_queue);
  if (is.pending == pool.demand.pending && is.claimed == pool.demand.claimed &&
      is.note == pool.demand.note)
    return;
  pool.demand = std::move(is);
  wake(index, true);
}

namespace {

// The launch configurations of a pool whose workers could serve what waits, and how much of such a
// worker's capacity goes with each "active-task" of it: more if it is another resource that runs
// out.
struct Servers {
  std::vector<Index> launch_configs = {};
  double capacity_each = 0;
};

}  // namespace

// When something has changed, and from time to time while something waits, for pools grow and
// shrink.
Time Fleet::next_measure() const {
  if (queue_->demand_changed()) return queue_measured_ + settings_.decision_gap;
  return queue_->waiting() > 0 ? queue_measured_ + settings_.poll : Time::max();
}

// Each request counts once: for the first pool in the order of its candidates that could launch a
// worker for it and has room to grow; if none has, for the first that could.
void Fleet::assign_demand(const std::vector<queue::Waiting>& demand, const TakeDemand& take) const {
  std::vector<Index> shared;
  for (const auto& [id, at] : pool_index_) {
    const Pool& pool = pools_[at];
    if (demand.empty() || !pool.spec || pool.removed()) continue;
    const queue::TeamPool* known = queue_->find_pool(id);
    if (!(known && known->dedicated)) shared.push_back(at);
  }
  const auto servers_in = [&](const Pool& pool, const queue::Waiting& waiting) {
    Servers servers;
    for (const Index at : pool.launch_configs) {
      const LaunchConfigState& state = launch_configs_[at];
      if (state.status == LaunchConfigStatus::archived ||
          !state.promised.serves(waiting.tags, waiting.needs))
        continue;
      const double capacity = state.promised.has.share_of(waiting.needs) *
                              static_cast<double>(instance_capacity(*state.spec));
      const double each = capacity / static_cast<double>(waiting.needs.active_task);
      servers.capacity_each =
          servers.launch_configs.empty() ? each : std::min(each, servers.capacity_each);
      servers.launch_configs.push_back(at);
    }
    return servers;
  };
  std::vector<double> queued(pools_.size());
  for (const queue::Waiting& waiting : demand) {
    std::vector<Index> candidates;
    for (const WorkerPoolId& id : waiting.pools)
      if (const auto known = pool_index_.find(id); known != pool_index_.end())
        candidates.push_back(known->second);
    if (waiting.shared) std::ranges::copy(shared, std::back_inserter(candidates));
    auto left = static_cast<double>(waiting.capacity);
    std::int64_t requests = waiting.capacity / waiting.needs.active_task;
    const auto give = [&](Index at, const Servers& servers, double taken) {
      const double capacity = taken * servers.capacity_each;
      const std::int64_t whole =
          taken >= left ? requests : static_cast<std::int64_t>(taken) / waiting.needs.active_task;
      take(waiting, {at, whole, capacity, servers.launch_configs});
      queued[at] += capacity;
      left -= taken;
      requests -= whole;
    };
    std::optional<std::pair<Index, Servers>> first;
    for (const Index at : candidates) {
      if (left <= 0) break;
      if (!pools_[at].spec) continue;
      const Servers servers = servers_in(pools_[at], waiting);
      if (servers.launch_configs.empty()) continue;
      if (!first) first = {at, servers};
      const double room =
          static_cast<double>(pools_[at].spec->settings.max_capacity - pools_[at].totals.running) -
          queued[at];
      if (room > 0) give(at, servers, std::min(left, room / servers.capacity_each));
    }
    if (left <= 0) continue;
    if (first)
      give(first->first, first->second, left);
    else
      take(waiting, {no_index, requests, left, {}});
  }
}

// Sums of thirds are a little more than the whole.
std::int64_t whole_capacity(double capacity) {
  return clamp_capacity(static_cast<std::int64_t>(std::ceil(std::min(capacity, 1e15) - 1e-6)));
}

void Fleet::measure_queue() {
  if (now_.wall < next_measure() && now_.wall >= queue_measured_) return;
  queue_measured_ = now_.wall;
  std::vector<bool> wanted(launch_configs_.size(), false);
  std::vector<double> queued(pools_.size());
  assign_demand(queue_->take_demand(), [&](const queue::Waiting&, const Assigned& assigned) {
    if (assigned.pool == no_index) return;
    for (const Index launch_config : assigned.launch_configs) wanted[launch_config] = true;
    queued[assigned.pool] += assigned.capacity;
  });
  for (Index at = 0; at < launch_configs_.size(); ++at)
    launch_configs_[at].queue_wants_it = wanted[at];
  for (Index at = 0; at < pools_.size(); ++at) {
    if (pools_[at].removed()) continue;
    const std::int64_t in_queue = whole_capacity(queued[at]);
    if (pools_[at].in_queue == in_queue) continue;
    pools_[at].in_queue = in_queue;
    add_up_demand(at);
  }
}

// What is idle in a pool while requests wait for it is of no use to them: they would have it.
bool Fleet::only_queue_wants_more(const Pool& pool) const {
  return pool.in_queue > 0 && pool.outside.pending <= pool.totals.idle;
}

bool Fleet::could_help(const Pool& pool, const LaunchConfigState& launch_config) const {
  return launch_config.queue_wants_it || !only_queue_wants_more(pool);
}

}  // namespace muster::fleet
