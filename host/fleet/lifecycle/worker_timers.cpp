#include "host/fleet/lifecycle/worker_timers.hpp"

#include <algorithm>

#include <muster/codec.hpp>

namespace muster::fleet {

WorkerTimers::Next WorkerTimers::on_timer(Index index) {
  const Worker& worker = workers_[index];
  switch (worker.state) {
    case WorkerState::requested:
      return on_requested(index);
    case WorkerState::running:
      on_running(index);
      break;
    case WorkerState::stopping:
      if (has_instance(worker) && !worker.terminating) termination_.request(index);
      break;
    case WorkerState::stopped:
      if (worker.since + settings_.stopped_kept <= clock_.now()) termination_.forget(index);
      break;
  }
  return Next::nothing;
}

WorkerTimers::Next WorkerTimers::on_requested(Index index) {
  const Worker& worker = workers_[index];
  if (worker.phase == LaunchPhase::launched && clock_.may_judge() &&
      deadlines_.registration_ends(worker) <= clock_.now()) {
    const auto timeout = std::chrono::duration_cast<std::chrono::seconds>(
        deadlines_.registration_ends(worker) - worker.since);
    termination_.stop_with_error(
        index, "registration-timeout", "never registered",
        "it was launched and did not register within " + std::to_string(timeout.count()) + " s");
    return Next::nothing;
  }
  if (worker.phase != LaunchPhase::uncertain) return Next::nothing;
  if (!worker.lost && deadlines_.is_lost(worker) <= clock_.now()) {
    WorkerEdit(table_, index)->lost = true;
    agenda_.wake(worker.pool);
  }
  return deadlines_.retries(worker) ? Next::retry_launch : Next::nothing;
}

void WorkerTimers::on_running(Index index) {
  const Worker& worker = workers_[index];
  const Lifecycle& life = registry_.lifecycle_of(worker);
  const Time now = clock_.now();
  const bool may_judge = clock_.may_judge();
  if (deadlines_.has_expired(worker))
    return termination_.stop(index, "its owner declared it until " + format_time(worker.expires));
  if (may_judge && deadlines_.lapse(worker) <= now) return quarantine_.on_lapse(index);
  // An outdated one has until its credentials expire.
  if (may_judge && worker.busy <= 0 && !worker.ends_with_credentials() && !worker.declared() &&
      deadlines_.is_inactive(worker) <= now)
    return termination_.stop_with_error(index, "inactivity-timeout", "was not active",
                                        "it did not report activity for " +
                                            std::to_string(life.queue_inactivity_timeout.count()) +
                                            " s");
  if (worker.quarantined_until != Time{} && worker.quarantined_until <= now)
    return quarantine_.expire(index);
  if ((worker.drain == Drain::surplus || worker.drain == Drain::removed) && worker.busy == 0 &&
      may_judge && deadlines_.drain_ends(worker) <= now)
    return termination_.stop(index, worker.reason);
  if (worker.drain == Drain::none && worker.busy == 0 && may_judge &&
      deadlines_.is_long_idle(worker) <= now)
    draining_.shrink(worker.pool);
}

}  // namespace muster::fleet
