// When a worker or a pool has to be looked at again, and what is found then.
#include <algorithm>

#include <muster/codec.hpp>

#include "host/fleet/changing.hpp"
#include "host/fleet/lifecycle/cycling.hpp"
#include "host/queue/queue.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;

// The same work is not tried again more often than that.
constexpr auto shortest_wait = 1s;

std::chrono::milliseconds backoff(std::chrono::milliseconds first, int attempts) {
  return first * (1 << std::clamp(attempts, 0, 6));
}

}  // namespace

void Fleet::set_timer(Index index) {
  Worker& worker = workers_[index];
  const Time at = due(worker);
  if (at == worker.look) return;
  worker.look = at;
  if (at == Time::max()) return;
  worker_timers_.push_back({at, index});
  std::ranges::push_heap(worker_timers_, std::greater{});
}

void Fleet::set_pool_timer(Index index, Time at) {
  Pool& pool = pools_[index];
  if (pool.look != Time{} && pool.look <= at) return;
  pool.look = at;
  pool_timers_.push_back({at, index});
  std::ranges::push_heap(pool_timers_, std::greater{});
}

// Whatever the worker is judged for by the time waits until the grace is over.
Time Fleet::due(const Worker& worker) const {
  if (worker.number == 0) return Time::max();
  const Lifecycle& life = lifecycle_of(worker);
  Time at = Time::max();
  const auto by = [&](Time time) { at = std::min(at, time); };
  const auto judged_at = [&](Time time) { by(std::max(time, grace_until_)); };
  switch (worker.state) {
    case WorkerState::requested:
      if (worker.phase == LaunchPhase::launched)
        judged_at(worker.since + life.registration_timeout);
      if (worker.phase == LaunchPhase::uncertain) {
        if (!worker.lost) by(worker.since + settings_.lost_after);
        if (retries(worker)) by(worker.since + backoff(5s, worker.attempts - 1));
      }
      break;
    case WorkerState::running:
      if (const Time lapsed = lapse(worker); lapsed != Time::max()) judged_at(lapsed);
      if (worker.expires != Time{}) by(worker.expires);
      if (worker.busy <= 0 && worker.drain != Drain::outdated && !worker.announced())
        judged_at(std::max(worker.last_active, worker.registered) + life.queue_inactivity_timeout);
      if (worker.drain == Drain::none && worker.busy == 0) {
        const Time idle = std::max(worker.idle_since + life.idle_timeout, grace_until_);
        if (idle > now_.wall) by(idle);
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

bool Fleet::retries(const Worker& worker) const {
  return !worker.called && worker.attempts < settings_.launch_attempts && worker.epoch == epoch_ &&
         launch_configs_[worker.launch_config].status != LaunchConfigStatus::archived;
}

void Fleet::run_timers() {
  while (!worker_timers_.empty() && worker_timers_.front().at <= now_.wall) {
    const Timer timer = worker_timers_.front();
    std::ranges::pop_heap(worker_timers_, std::greater{});
    worker_timers_.pop_back();
    Worker& worker = workers_[timer.index];
    if (worker.number == 0 || worker.look != timer.at) continue;  // an older setting
    worker.look = Time{};
    on_timer(timer.index);
    Worker& after = workers_[timer.index];
    if (after.number == 0 || after.look != Time{}) continue;
    // What is due and cannot be done now is looked at again soon.
    after.look = std::max(due(after), now_.wall + shortest_wait);
    if (after.look == Time::max()) continue;
    worker_timers_.push_back({after.look, timer.index});
    std::ranges::push_heap(worker_timers_, std::greater{});
  }
  while (!pool_timers_.empty() && pool_timers_.front().at <= now_.wall) {
    const Timer timer = pool_timers_.front();
    std::ranges::pop_heap(pool_timers_, std::greater{});
    pool_timers_.pop_back();
    Pool& pool = pools_[timer.index];
    if (pool.removed() || pool.look != timer.at) continue;
    pool.look = Time{};
    wake(timer.index, true);
  }
}

void Fleet::on_timer(Index index) {
  const Worker& worker = workers_[index];
  const Lifecycle& life = lifecycle_of(worker);
  const Time now = now_.wall;
  const bool may_judge = now >= grace_until_;
  switch (worker.state) {
    case WorkerState::requested:
      if (worker.phase == LaunchPhase::launched && may_judge &&
          worker.since + life.registration_timeout <= now)
        return never_registered(index);
      if (worker.phase == LaunchPhase::uncertain && !worker.lost &&
          worker.since + settings_.lost_after <= now) {
        WorkerEdit(*this, index)->lost = true;
        wake(workers_[index].pool);
      }
      if (worker.phase == LaunchPhase::uncertain && retries(worker)) retry_launch(index);
      return;
    case WorkerState::running:
      return on_running_timer(index, may_judge);
    case WorkerState::stopping:
      if (has_instance(worker) && !worker.terminating) ask_termination(index);
      return;
    case WorkerState::stopped:
      if (worker.since + settings_.stopped_kept <= now) erase_worker(index);
      return;
  }
}

void Fleet::on_running_timer(Index index, bool may_judge) {
  const Worker& worker = workers_[index];
  const Lifecycle& life = lifecycle_of(worker);
  const Time now = now_.wall;
  if (has_expired(worker))
    return stop(index, "its owner declared it until " + format_time(worker.expires));
  if (may_judge && lapse(worker) <= now) return on_lapse(index);
  // An outdated one has until its credentials expire.
  if (may_judge && worker.busy <= 0 && worker.drain != Drain::outdated && !worker.announced() &&
      std::max(worker.last_active, worker.registered) + life.queue_inactivity_timeout <= now)
    return stop_with_error(index, "inactivity-timeout", "was not active",
                           "it did not report activity for " +
                               std::to_string(life.queue_inactivity_timeout.count()) + " s");
  if (worker.quarantined_until != Time{} && worker.quarantined_until <= now) {
    WorkerEdit(*this, index)->quarantined_until = Time{};
    if (workers_[index].drain != Drain::quarantined) return;
    tell_quarantine("worker-released", workers_[index], "the quarantine is over", {});
    return end_drain(index, "the quarantine is over");
  }
  if (worker.drain == Drain::surplus && worker.busy == 0 && may_judge &&
      worker.since + settings_.drain_grace <= now)
    return stop(index, worker.reason);
  if (worker.drain == Drain::none && worker.busy == 0 && may_judge &&
      worker.idle_since + life.idle_timeout <= now)
    shrink(worker.pool);
}

Time Fleet::next_wake() const {
  Time next = std::min(queue_->next_wake(), next_measure());
  if (!worker_timers_.empty()) next = std::min(next, worker_timers_.front().at);
  if (!pool_timers_.empty()) next = std::min(next, pool_timers_.front().at);
  if (!to_look_at_.empty() || !sized_.empty()) next = std::min(next, now_.wall + fairness_wait);
  for (const ProviderState& provider : providers_) {
    if (!provider.up) continue;
    if (provider.listing == 0) next = std::min(next, provider.list_at);
    if (provider.has_notices && provider.noticing == 0) next = std::min(next, provider.notices_at);
    if (!provider.launchables.empty()) next = std::min(next, provider.throttle.next(now_.wall));
  }
  return next;
}

}  // namespace muster::fleet
