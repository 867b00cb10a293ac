#include "host/fleet/workers/deadlines.hpp"

#include <algorithm>

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;

std::chrono::milliseconds backoff(std::chrono::milliseconds first, int attempts) {
  return first * (1 << std::clamp(attempts, 0, 6));
}

}  // namespace

Time Deadlines::due(const Worker& worker) const {
  if (worker.number == 0) return Time::max();
  const Lifecycle& life = registry_.lifecycle_of(worker);
  Time at = Time::max();
  const auto by = [&](Time time) { at = std::min(at, time); };
  const auto judged_at = [&](Time time) { by(std::max(time, clock_.grace_until())); };
  switch (worker.state) {
    case WorkerState::requested:
      if (worker.phase == LaunchPhase::launched) judged_at(registers_by(worker));
      if (worker.phase == LaunchPhase::uncertain) {
        if (!worker.lost) by(worker.since + settings_.lost_after);
        if (retries(worker)) by(worker.since + backoff(5s, worker.attempts - 1));
      }
      break;
    case WorkerState::running:
      if (const Time lapsed = lapse(worker); lapsed != Time::max()) judged_at(lapsed);
      if (worker.expires != Time{}) by(worker.expires);
      if (worker.busy <= 0 && worker.drain != Drain::outdated && !worker.declared())
        judged_at(std::max(worker.last_active, worker.registered) + life.queue_inactivity_timeout);
      if (worker.drain == Drain::none && worker.busy == 0) {
        const Time idle = std::max(worker.idle_since + life.idle_timeout, clock_.grace_until());
        if (idle > clock_.now()) by(idle);
      }
      if (worker.drain == Drain::surplus && worker.busy == 0)
        judged_at(worker.since + settings_.drain_grace);
      if (worker.quarantined_until != Time{}) by(worker.quarantined_until);
      break;
    case WorkerState::stopping:
      if (has_instance(worker) && !worker.terminating)
        by(worker.since + backoff(settings_.terminate_again, worker.attempts));
      break;
    case WorkerState::stopped:
      by(worker.since + settings_.stopped_kept);
      break;
  }
  return at;
}

Time Deadlines::registers_by(const Worker& worker) const {
  return std::max(worker.since + registry_.lifecycle_of(worker).registration_timeout,
                  worker.credentials_expire);
}

bool Deadlines::retries(const Worker& worker) const {
  return !worker.called && worker.attempts < settings_.launch_attempts &&
         worker.epoch == identity_.epoch &&
         registry_.launch_configs()[worker.launch_config].status != LaunchConfigStatus::archived;
}

bool Deadlines::has_expired(const Worker& worker) const {
  return worker.expires != Time{} && worker.expires <= clock_.now();
}

bool Deadlines::has_lapsed(const Worker& worker) const {
  return worker.credentials_expire == Time{} ||
         (worker.credentials_expire <= clock_.now() && clock_.may_judge());
}

Time Deadlines::lapse(const Worker& worker) const {
  const Time outdated_ends = worker.credentials_expire + settings_.after_credentials;
  if (!worker.persists_when_absent()) {
    if (worker.credentials_expire == Time{}) return Time::max();
    return worker.drain == Drain::outdated ? outdated_ends : worker.credentials_expire;
  }
  if (worker.drain == Drain::none) return worker.credentials_expire;
  return worker.drain == Drain::outdated ? outdated_ends : Time::max();
}

}  // namespace muster::fleet
