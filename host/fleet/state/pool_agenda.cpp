#include "host/fleet/state/pool_agenda.hpp"

namespace muster::fleet {

PoolAgenda::Entry& PoolAgenda::entry(Index pool) {
  if (pool >= entries_.size()) entries_.resize(pool + 1);
  return entries_[pool];
}

void PoolAgenda::wake(Index pool, bool at_once) {
  Entry& entry = this->entry(pool);
  entry.cause = true;
  if (registry_.pools()[pool].removed() || entry.waiting) return;
  if (entry.bidding) {
    entry.again = true;
    return;
  }
  const Time now = clock_.now();
  if (!at_once && now < entry.reviewed + settings_.decision_gap && now >= entry.reviewed)
    return set_timer(pool, entry.reviewed + settings_.decision_gap);
  enqueue(pool);
}

void PoolAgenda::enqueue(Index pool) {
  entry(pool).waiting = true;
  waiting_.push_back(pool);
}

void PoolAgenda::set_timer(Index pool, Time at) {
  entry(pool).cause = true;
  set_turn(pool, at);
}

void PoolAgenda::set_turn(Index pool, Time at) {
  Entry& entry = this->entry(pool);
  if (entry.timer != Time{} && entry.timer <= at) return;
  entry.timer = at;
  timers_.set(at, pool);
}

void PoolAgenda::run_timers() {
  while (timers_.is_due(clock_.now())) {
    const Timers::Timer timer = timers_.take();
    Entry& entry = this->entry(timer.index);
    if (registry_.pools()[timer.index].removed() || entry.timer != timer.at) continue;
    entry.timer = Time{};
    if (entry.waiting) continue;
    if (entry.bidding)
      entry.again = true;
    else
      enqueue(timer.index);
  }
}

bool PoolAgenda::begin_review(Index pool) {
  Entry& entry = this->entry(pool);
  entry.waiting = false;
  const Pool& reviewed = registry_.pools()[pool];
  if (reviewed.removed() || !reviewed.fault.empty() || entry.bidding) return false;
  entry.reviewed = clock_.now();
  entry.again = false;
  return true;
}

void PoolAgenda::end_bidding(Index pool, Time next) {
  Entry& entry = this->entry(pool);
  entry.bidding = false;
  set_turn(pool, next);
  if (!std::exchange(entry.again, false)) return;
  wake(pool);
}

bool PoolAgenda::is_quiet(Index pool) const {
  return pool >= entries_.size() || (!entries_[pool].bidding && !entries_[pool].waiting);
}

// A time in the future is of a clock that was wrong.
void PoolAgenda::clock_was_set() {
  const Time now = clock_.now();
  for (Index pool = 0; pool < registry_.pools().size(); ++pool) {
    if (registry_.pools()[pool].removed()) continue;
    Entry& entry = this->entry(pool);
    entry.reviewed = std::min(entry.reviewed, now);
    entry.timer = Time{};
    set_timer(pool, now + settings_.decision_gap);
  }
}

Time PoolAgenda::next_wake() const {
  return waiting_.empty() ? timers_.next() : std::min(timers_.next(), clock_.now() + fairness_wait);
}

}  // namespace muster::fleet
