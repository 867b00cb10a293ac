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
  Time at = Time::max();
  const auto by = [&](Time time) { at = std::min(at, time); };
  const auto judged_at = [&](Time time) { by(std::max(time, clock_.grace_until())); };
  switch (worker.state) {
    case WorkerState::requested:
      if (worker.phase == LaunchPhase::launched) judged_at(registration_ends(worker));
      if (worker.phase == LaunchPhase::uncertain) {
        if (!worker.lost) by(is_lost(worker));
        if (retries(worker)) by(worker.since + backoff(5s, worker.attempts - 1));
      }
      break;
    case WorkerState::running:
      if (const Time lapsed = lapse(worker); lapsed != Time::max()) judged_at(lapsed);
      if (worker.expires != Time{}) by(worker.expires);
      if (worker.busy <= 0 && !worker.ends_with_credentials() && !worker.declared())
        judged_at(is_inactive(worker));
      if (worker.drain == Drain::none && worker.busy == 0) {
        const Time idle = std::max(is_long_idle(worker), clock_.grace_until());
        if (idle > clock_.now()) by(idle);
      }
      if ((worker.drain == Drain::surplus || worker.drain == Drain::removed) && worker.busy == 0)
        judged_at(drain_ends(worker));
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
         (credentials_end(worker, 0ms) <= clock_.now() && clock_.may_judge());
}

// They were given for as long as they are given now, and not before the worker was there.
Time Deadlines::credentials_end(const Worker& worker, std::chrono::milliseconds later) const {
  const std::chrono::milliseconds lasts = registry_.lifecycle_of(worker).reregistration_timeout;
  const Time given = std::max(worker.credentials_expire - lasts, worker.registered);
  return clock_.deadline(given, worker.credentials_expire - given + later);
}

Time Deadlines::lapse(const Worker& worker) const {
  const Time outdated_ends = credentials_end(worker, settings_.after_credentials);
  if (!worker.persists_when_absent()) {
    if (worker.credentials_expire == Time{}) return Time::max();
    return worker.ends_with_credentials() ? outdated_ends : credentials_end(worker, 0ms);
  }
  if (worker.drain == Drain::none) return credentials_end(worker, 0ms);
  return worker.ends_with_credentials() ? outdated_ends : Time::max();
}

Time Deadlines::registration_ends(const Worker& worker) const {
  const Time after_launch =
      clock_.deadline(worker.since, registry_.lifecycle_of(worker).registration_timeout);
  if (worker.credentials_expire == Time{}) return after_launch;
  return std::max(after_launch, credentials_end(worker, 0ms));
}

Time Deadlines::is_lost(const Worker& worker) const {
  return clock_.deadline(worker.since, settings_.lost_after);
}

Time Deadlines::is_inactive(const Worker& worker) const {
  return clock_.deadline(std::max(worker.last_active, worker.registered),
                         registry_.lifecycle_of(worker).queue_inactivity_timeout);
}

Time Deadlines::is_long_idle(const Worker& worker) const {
  return clock_.deadline(worker.idle_since, registry_.lifecycle_of(worker).idle_timeout);
}

Time Deadlines::drain_ends(const Worker& worker) const {
  return clock_.deadline(worker.since, settings_.drain_grace);
}

}  // namespace muster::fleet
