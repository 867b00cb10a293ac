#include "host/fleet/queue_load.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/fleet/fleet.hpp"
#include "host/fleet/model/sanitize.hpp"
#include "host/queue/lines.hpp"
#include "host/queue/queue.hpp"

namespace muster::fleet {
namespace {

void keep_older(std::optional<Time>& oldest, Time time) {
  oldest = std::min(oldest.value_or(time), time);
}

// Since when requests of each size wait in a line. Those of the same priority stand in the order in
// which they came, so that among equals the first says it for all.
std::map<queue::Resources, Time> oldest_in(const queue::Line& line, const queue::Queue& queue) {
  std::map<queue::Resources, Time> oldest;
  for (const queue::Line::Places* places : {&line.waiting, &line.too_large})
    for (auto place = places->begin(); place != places->end();) {
      const queue::Request& request = queue.requests()[place->request];
      const auto known = oldest.try_emplace(request.needs, request.created).first;
      known->second = std::min(known->second, request.created);
      if (line.wanted.size() > 1)
        ++place;
      else
        place = places->upper_bound(queue::Line::Place{
            place->minus_priority, std::numeric_limits<std::int64_t>::max(), queue::no_index});
    }
  return oldest;
}

void add_workers(const queue::Queue& queue, QueueLoad& load) {
  for (const queue::Worker& worker : queue.workers()) {
    if (worker.number == 0 || worker.pool == queue::no_index) continue;
    PoolLoad& pool = load.pools[queue.pools()[worker.pool].id];
    ++pool.workers;
    pool.has.add(worker.has, +1);
    pool.used.add(worker.used, +1);
    pool.used.active_task += worker.elsewhere;
    const double by_leases =
        worker.has.share_of(worker.used) * static_cast<double>(worker.has.active_task);
    pool.bound += std::max(by_leases, static_cast<double>(worker.active()));
  }
}

}  // namespace

void WaitingLoad::add(std::int64_t more_requests, double more_capacity, Time since) {
  requests += more_requests;
  capacity += more_capacity;
  keep_older(oldest, since);
}

double ResourceLoad::utilisation() const {
  return std::clamp(static_cast<double>(used) / static_cast<double>(has), 0.0, 1.0);
}

std::vector<ResourceLoad> PoolLoad::resources() const {
  std::vector<ResourceLoad> all;
  if (workers > 0)
    all.push_back({std::string(queue::active_task_name), has.active_task, used.active_task});
  for (const auto& [name, amount] : has.others) all.push_back({name, amount, used.amount_of(name)});
  return all;
}

std::int64_t PoolLoad::would_be() const {
  return whole_capacity(bound + waiting.capacity - unserved);
}

std::int64_t seconds_since(Time time, Time now) {
  return std::max<std::int64_t>(
      0, std::chrono::duration_cast<std::chrono::seconds>(now - time).count());
}

QueueLoad load_of(const Fleet& fleet) {
  const queue::Queue& queue = fleet.queue();
  QueueLoad load;
  load.oldest_of_team.resize(queue.teams().size());
  std::vector<std::map<queue::Resources, Time>> oldest(queue.lines().size());
  for (std::size_t at = 0; at < queue.lines().size(); ++at) {
    const queue::Line& line = queue.lines()[at];
    if (line.team == queue::no_index || line.wanted.empty()) continue;
    oldest[at] = oldest_in(line, queue);
    for (const auto& [needs, time] : oldest[at]) {
      keep_older(load.oldest_of_team[line.team], time);
      keep_older(load.oldest, time);
    }
  }
  for (const queue::TeamPool& pool : queue.pools())
    if (pool.dedicated) load.pools[pool.id];
  add_workers(queue, load);
  fleet.assign_demand(queue.demand(),
                      [&](const queue::WaitingCapacity& waiting, const Assigned& assigned) {
                        const Time since = oldest[waiting.line].at(waiting.needs);
                        if (assigned.pool != no_index)
                          return load.pools[fleet.pools()[assigned.pool].id].waiting.add(
                              assigned.requests, assigned.capacity, since);
                        load.unserved.add(assigned.requests, assigned.capacity, since);
                        const queue::Index named = queue.lines()[waiting.line].pool;
                        if (named == queue::no_index) return;
                        PoolLoad& pool = load.pools[queue.pools()[named].id];
                        pool.waiting.add(assigned.requests, assigned.capacity, since);
                        pool.unserved += assigned.capacity;
                      });
  return load;
}

}  // namespace muster::fleet
