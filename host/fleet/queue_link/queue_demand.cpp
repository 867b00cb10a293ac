#include "host/fleet/queue_link/queue_demand.hpp"

#include <algorithm>
#include <cmath>

#include "host/fleet/model/sanitize.hpp"
#include "host/queue/queue.hpp"

namespace muster::fleet {

void QueueDemand::outside_changed(const Demand& demand) {
  for (Index at = 0; at < pools_.size(); ++at) {
    Pool& pool = pools_[at];
    if (pool.removed()) continue;
    const auto found = demand.find(pool.id);
    PoolDemand is = found == demand.end() ? PoolDemand{} : found->second;
    is.pending = clamp_capacity(is.pending);
    if (is.claimed) is.claimed = clamp_capacity(*is.claimed);
    is.note = shortened(std::move(is.note));
    pool.outside = std::move(is);
    add_up(at);
  }
}

void QueueDemand::add_up(Index index) {
  Pool& pool = pools_[index];
  PoolDemand is = pool.outside;
  is.pending = clamp_capacity(is.pending + pool.in_queue);
  if (is.pending == pool.demand.pending && is.claimed == pool.demand.claimed &&
      is.note == pool.demand.note)
    return;
  pool.demand = std::move(is);
  agenda_.wake(index, true);
}

// The launch configurations of a pool whose workers could serve what waits, and how much of such a
// worker's capacity goes with each "active-task" of it: more if it is another resource that runs
// out.
struct QueueDemand::Servers {
  Index pool = no_index;
  std::vector<Index> launch_configs = {};
  double capacity_each = 0;
  bool launchable_now = false;  // one of them is neither paused nor held, and its provider is up
};

bool QueueDemand::could_launch_now(const LaunchConfigState& launch_config) const {
  return launch_config.status == LaunchConfigStatus::active &&
         providers_[launch_config.provider].up && !holds_.find(launch_config);
}

QueueDemand::Servers QueueDemand::servers_in(const Pool& pool,
                                             const queue::WaitingCapacity& waiting) const {
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
    servers.launchable_now |= could_launch_now(state);
  }
  return servers;
}

Time QueueDemand::next_wake() const {
  if (link_.queue().demand_changed()) return measured_ + settings_.decision_gap;
  return link_.queue().waiting() > 0 ? measured_ + settings_.poll : Time::max();
}

// Each request counts once: for the first pool in the order of its candidates that could launch a
// worker for it now and has room to grow; then for those that have room, but whose launches are
// held or paused; if none has room, for the first that could.
void QueueDemand::assign(const std::vector<queue::WaitingCapacity>& demand,
                         const TakeDemand& take) const {
  std::vector<Index> shared;
  for (const auto& [id, at] : registry_.pool_indices()) {
    const Pool& pool = pools_[at];
    if (demand.empty() || !pool.spec || pool.removed()) continue;
    const queue::TeamPool* known = link_.queue().find_pool(id);
    if (!(known && known->dedicated)) shared.push_back(at);
  }
  std::vector<double> queued(pools_.size());
  for (const queue::WaitingCapacity& waiting : demand) {
    std::vector<Servers> candidates;
    const auto consider = [&](Index at) {
      if (!pools_[at].spec) return;
      Servers servers = servers_in(pools_[at], waiting);
      servers.pool = at;
      if (!servers.launch_configs.empty()) candidates.push_back(std::move(servers));
    };
    for (const WorkerPoolId& id : waiting.pools)
      if (const Index known = registry_.find_pool_index(id); known != no_index) consider(known);
    if (waiting.shared) std::ranges::for_each(shared, consider);
    auto left = static_cast<double>(waiting.capacity);
    std::int64_t requests = waiting.capacity / waiting.needs.active_task;
    const auto give = [&](const Servers& servers, double taken) {
      const double capacity = taken * servers.capacity_each;
      const std::int64_t whole =
          taken >= left ? requests : static_cast<std::int64_t>(taken) / waiting.needs.active_task;
      take(waiting, {servers.pool, whole, capacity, servers.launch_configs});
      queued[servers.pool] += capacity;
      left -= taken;
      requests -= whole;
    };
    for (const bool launchable_now : {true, false})
      for (const Servers& servers : candidates) {
        if (left <= 0) break;
        if (servers.launchable_now != launchable_now) continue;
        const Pool& pool = pools_[servers.pool];
        const double room =
            static_cast<double>(pool.spec->settings.max_capacity - pool.totals.running) -
            queued[servers.pool];
        if (room > 0) give(servers, std::min(left, room / servers.capacity_each));
      }
    if (left <= 0) continue;
    if (candidates.empty())
      take(waiting, {no_index, requests, left, {}});
    else
      give(candidates.front(), left);
  }
}

void QueueDemand::measure() {
  if (clock_.now() < next_wake() && clock_.now() >= measured_) return;
  measured_ = clock_.now();
  std::vector<bool> wanted(launch_configs_.size(), false);
  std::vector<double> queued(pools_.size());
  assign(link_.queue().take_demand(), [&](const queue::WaitingCapacity&, const Assigned& assigned) {
    if (assigned.pool == no_index) return;
    for (const Index launch_config : assigned.launch_configs) wanted[launch_config] = true;
    queued[assigned.pool] += assigned.capacity;
  });
  for (Index at = 0; at < launch_configs_.size(); ++at)
    if (std::exchange(launch_configs_[at].queue_wants_it, wanted[at]) != wanted[at] &&
        !launch_configs_[at].removed())
      agenda_.wake(launch_configs_[at].pool);
  for (Index at = 0; at < pools_.size(); ++at) {
    if (pools_[at].removed()) continue;
    const std::int64_t in_queue = whole_capacity(queued[at]);
    if (pools_[at].in_queue == in_queue) continue;
    pools_[at].in_queue = in_queue;
    add_up(at);
  }
}

}  // namespace muster::fleet
