#include "host/fleet/lifecycle/draining.hpp"

#include <algorithm>

#include <muster/codec.hpp>

namespace muster::fleet {

void Draining::start(Index index, Drain drain, std::string reason) {
  {
    WorkerEdit worker(table_, index);
    worker->drain = drain;
    worker->since = clock_.now();
    worker->reason = std::move(reason);
    if (drain == Drain::absent) worker->busy = worker->working = -1;
  }
  if (drain == Drain::surplus) {
    Pool& pool = pools_[workers_[index].pool];
    pool.surplus = std::max<std::int64_t>(0, pool.surplus - workers_[index].capacity);
  }
  agenda_.wake(workers_[index].pool);
}

// It serves again, unless there is another reason why it should not.
void Draining::end(Index index, const std::string& why) {
  const Worker& before = workers_[index];
  if (before.drain == Drain::none) return;
  if (before.quarantined_until > clock_.now())
    return start(index, Drain::quarantined,
                 "quarantined until " + format_time(before.quarantined_until));
  if (before.persists_when_absent() && deadlines_.has_lapsed(before))
    return start(index, Drain::absent, why + "; it has not registered since");
  {
    WorkerEdit worker(table_, index);
    worker->drain = Drain::none;
    worker->since = clock_.now();
    worker->reason = "serves again: " + why;
  }
  agenda_.wake(workers_[index].pool);
}

// Notices come twice, late, or for workers that end anyway.
void Draining::interrupt(Index index, const Interruption& interruption) {
  const Worker& worker = workers_[index];
  if (worker.state != WorkerState::running && worker.state != WorkerState::requested) return;
  if (worker.interruption == interruption.at) return;
  const std::string reason = "the provider takes it away at " + format_time(interruption.at) +
                             (interruption.reason.empty() ? "" : ": " + interruption.reason);
  WorkerEdit(table_, index)->interruption = interruption.at;
  if (workers_[index].state == WorkerState::requested)
    return termination_.stop(index, reason);  // it would hardly begin
  if (workers_[index].drain != Drain::interrupted) start(index, Drain::interrupted, reason);
}

bool Draining::may_shrink(const Pool& pool, const Worker& worker) const {
  if (worker.declared()) return false;  // its owner decides
  if (!pool.spec) return true;
  const Totals& totals = pool.totals;
  // Those that only the store knows may have ended: they make nobody superfluous.
  const std::int64_t running = totals.running - totals.unconfirmed;
  if (running + totals.requested > pool.spec->settings.max_capacity) return true;
  const bool waited_for =
      pool.outside.pending > 0 ||
      (pool.in_queue > 0 && launch_configs_[worker.launch_config].queue_wants_it);
  if (waited_for && pool.surplus < worker.capacity) return false;
  // Not all workers say when they work; the queue knows how many of them do.
  const std::int64_t least =
      std::max(pool.spec->settings.min_capacity, pool.outside.claimed.value_or(0));
  if (running - worker.capacity < least) return false;
  const std::int64_t idle_after =
      totals.idle - std::max(0, worker.capacity - std::max(0, worker.busy));
  return pool.spec->lifecycle.warm_capacity <= 0 ||
         idle_after >= pool.spec->lifecycle.warm_capacity;
}

// Those that are idle for the longest end first: the others have the warmer caches.
void Draining::shrink(Index index) {
  std::vector<std::pair<Time, Index>> idle;
  const Pool& pool = pools_[index];
  if (!clock_.may_judge()) return;
  for (const Index at : pool.workers) {
    const Worker& worker = workers_[at];
    if (worker.state == WorkerState::running && worker.drain == Drain::none && worker.busy == 0 &&
        !worker.declared() && deadlines_.is_long_idle(worker) <= clock_.now())
      idle.emplace_back(worker.idle_since, at);
  }
  std::ranges::sort(idle);
  for (const auto& [since, at] : idle) {
    if (!may_shrink(pools_[index], workers_[at])) break;
    start(at, Drain::surplus, "idle since " + format_time(since) + " and nothing waits for it");
  }
}

std::int64_t Draining::keep_surplus(Index index, std::int64_t wanted) {
  std::int64_t kept = 0;
  if (pools_[index].totals.draining == 0) return 0;
  const std::vector<Index> workers = pools_[index].workers;
  for (const Index at : workers) {
    if (kept >= wanted) break;
    const Worker& worker = workers_[at];
    if (worker.state != WorkerState::running || worker.drain != Drain::surplus) continue;
    if (!could_help(pools_[index], launch_configs_[worker.launch_config])) continue;
    kept += worker.capacity;
    end(at, "there is work again");
  }
  return kept;
}

}  // namespace muster::fleet
