// Workers come, change, drain and leave.
#include <algorithm>

#include "host/queue/lines.hpp"
#include "host/queue/queue.hpp"

namespace muster::queue {
namespace {

constexpr std::size_t cache_keys_remembered = 8;  // by each worker

}  // namespace

void Queue::offer(const WorkerOffer& offered, Time now) {
  now_ = now;
  const auto [known, is_new] = worker_index_.try_emplace(offered.number, no_index);
  if (!is_new && is_the_same(workers_[known->second], offered))
    return set_working(offered.number, offered.working, now);
  if (is_new) {
    known->second = static_cast<Index>(workers_.size());
    if (free_workers_.empty()) {
      workers_.emplace_back();
    } else {
      known->second = free_workers_.back();
      free_workers_.pop_back();
    }
  }
  const Index at = known->second;
  if (!is_new) take_out(at);
  const Index pool = offered.pool.empty() ? no_index : index_of_pool(offered.pool);
  const Index team = offered.team.empty() ? no_index : index_of_team(offered.team);
  Worker& worker = workers_[at];
  worker.number = offered.number;
  worker.pool = pool;
  worker.team = team;
  if (is_new) {  // machines do not move, and sums rest on it
    worker.place = place_index_.try_emplace(offered.place, static_cast<Index>(place_index_.size()))
                       .first->second;
    const auto [first, last] = loaded_leases_.equal_range(offered.number);
    for (auto lease = first; lease != last; ++lease) {
      Request& request = requests_[lease->second];
      request.worker = at;
      worker.leases.push_back(lease->second);
      worker.used.add(request.needs, +1);
      ++teams_[request.team].leases_by_place[worker.place];
    }
    if (first != last) load_changes_.push_back(worker.number);
    loaded_leases_.erase(first, last);
  }
  worker.tags = offered.tags;
  worker.has = offered.has;
  worker.takes_work = offered.takes_work;
  learn_working(worker, offered.working);
  put_in(at);
  offer_again(at);
  serve();
}

// But for what it does at the moment, and its place: machines do not move.
bool Queue::is_the_same(const Worker& worker, const WorkerOffer& offered) const {
  const auto is = [](Index at, const auto& id, const auto& all) {
    return at == no_index ? id.empty() : all[at].id == id;
  };
  return worker.takes_work == offered.takes_work && worker.has == offered.has &&
         worker.tags == offered.tags && is(worker.pool, offered.pool, pools_) &&
         is(worker.team, offered.team, teams_);
}

void Queue::withdraw(std::int64_t number, const std::string& reason, Time now) {
  now_ = now;
  const auto known = worker_index_.find(number);
  if (known == worker_index_.end()) return;
  const Index at = known->second;
  take_out(at);
  worker_index_.erase(known);
  workers_[at].takes_work = false;
  for (const Index request : std::vector<Index>(workers_[at].leases)) {
    free_worker(request);
    Request& lease = requests_[request];
    if (lease.confirmed) {
      end(request, "its worker is gone: " + reason);
      continue;
    }
    // Its client has not begun to use it: it waits again, in its old place.
    lease.state = RequestState::waiting;
    lease.granted = lease.until = Time{};
    touch(request);
    enqueue(request);
  }
  for (const std::string& key : workers_[at].cache_keys) {
    const auto found = by_cache_key_.find(key);
    if (found != by_cache_key_.end() && std::erase(found->second, at) > 0 && found->second.empty())
      by_cache_key_.erase(found);
  }
  std::erase(to_offer_, at);
  workers_[at] = Worker{};
  free_workers_.push_back(at);
  serve();
}

void Queue::set_working(std::int64_t number, std::int64_t working, Time now) {
  now_ = now;
  const auto known = worker_index_.find(number);
  if (known == worker_index_.end() || workers_[known->second].working == working) return;
  learn_working(workers_[known->second], working);
  reopen(known->second);
  offer_again(known->second);
  serve();
}

// Work of leases that are granted later is not among it.
void Queue::learn_working(Worker& worker, std::int64_t working) {
  if (worker.working == working) return;
  worker.working = working;
  worker.elsewhere = std::max<std::int64_t>(0, working - worker.used.active_task);
}

// -------------------------------------------------------------------------------------------------
// Groups

// Out of all groups and sums, before it changes.
void Queue::take_out(Index at) {
  Worker& worker = workers_[at];
  if (worker.reserved_for != no_index) unreserve(worker.reserved_for);
  close(at);
  count_shape(at, -1);
  for (const Index group : worker.groups) groups_[group].workers.erase(at);
  worker.groups.clear();
  if (worker.pool != no_index) --pools_[worker.pool].workers;
  if (worker.team != no_index && --teams_[worker.team].own_workers == 0) relink_team(worker.team);
}

void Queue::put_in(Index at) {
  forget_empty_groups();
  const Index pool = workers_[at].pool, team = workers_[at].team;
  const bool dedicated = pool != no_index && pools_[pool].dedicated;
  const std::vector<std::string> tags = workers_[at].tags;
  std::vector<Index> groups;
  if (dedicated) {
    groups.push_back(index_of_group(ScopeKind::pool, pool, tags));
  } else if (team != no_index) {
    groups.push_back(index_of_group(ScopeKind::team, team, tags));
  } else {
    groups.push_back(index_of_group(ScopeKind::shared, no_index, tags));
    if (pool != no_index) groups.push_back(index_of_group(ScopeKind::pool, pool, tags));
  }
  for (const Index group : groups) groups_[group].workers.insert(at);
  workers_[at].groups = std::move(groups);
  if (pool != no_index) ++pools_[pool].workers;
  count_shape(at, +1);
  if (team != no_index && ++teams_[team].own_workers == 1) relink_team(team);
  reopen(at);
}

void Queue::count_shape(Index at, std::int64_t sign) {
  const Worker& worker = workers_[at];
  if (!worker.takes_work) return;
  for (const Index group : worker.groups) {
    auto& shapes = groups_[group].shapes;
    const auto shape = shapes.try_emplace({worker.pool, worker.has}, 0).first;
    if ((shape->second += sign) == 0) shapes.erase(shape);
    reshaped_.insert(group);
  }
}

void Queue::regroup(Index worker) {
  take_out(worker);
  put_in(worker);
  offer_again(worker);
}

// Stands among the open workers of its groups exactly while it has room.
void Queue::reopen(Index at) {
  Worker& worker = workers_[at];
  const std::int64_t bucket = worker.has_room() ? worker.active() : -1;
  if (bucket == worker.bucket) return;
  close(at);
  if (bucket < 0) return;
  worker.bucket = bucket;
  worker.place_in_groups.clear();
  for (const Index group : worker.groups) {
    std::vector<Index>& open = groups_[group].open[bucket];
    worker.place_in_groups.push_back(static_cast<Index>(open.size()));
    open.push_back(at);
  }
}

void Queue::close(Index at) {
  Worker& worker = workers_[at];
  if (worker.bucket < 0) return;
  for (std::size_t i = 0; i < worker.groups.size(); ++i) {
    auto& buckets = groups_[worker.groups[i]].open;
    const auto bucket = buckets.find(worker.bucket);
    std::vector<Index>& open = bucket->second;
    Worker& last = workers_[open.back()];
    open[worker.place_in_groups[i]] = open.back();
    const auto same_group = std::ranges::find(last.groups, worker.groups[i]);
    last.place_in_groups[static_cast<std::size_t>(same_group - last.groups.begin())] =
        worker.place_in_groups[i];
    open.pop_back();
    if (open.empty()) buckets.erase(bucket);
  }
  worker.bucket = -1;
}

void Queue::unreserve(Index at) {
  const Index worker = std::exchange(lines_[at].reserved, no_index);
  if (worker == no_index) return;
  workers_[worker].reserved_for = no_index;
  offer_again(worker);
}

// -------------------------------------------------------------------------------------------------
// What a worker has in its caches

void Queue::touch_cache_key(Index at, const std::string& cache_key) {
  if (cache_key.empty()) return;
  std::vector<std::string>& keys = workers_[at].cache_keys;
  if (std::erase(keys, cache_key) == 0) by_cache_key_[cache_key].push_back(at);
  keys.push_back(cache_key);
  if (keys.size() <= cache_keys_remembered) return;
  const auto oldest = by_cache_key_.find(keys.front());
  if (std::erase(oldest->second, at) > 0 && oldest->second.empty()) by_cache_key_.erase(oldest);
  keys.erase(keys.begin());
}

}  // namespace muster::queue
