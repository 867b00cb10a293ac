#include "host/fleet/request_waiters.hpp"

namespace muster::fleet {

bool RequestWaiters::wait(std::int64_t request, std::chrono::milliseconds until,
                          std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  by_time_.emplace(until, waiters_.emplace(request, Waiter{until, std::move(wake)}));
  return true;
}

RequestWaiters::Waiter RequestWaiters::take(Waiters::iterator waiter) {
  const auto [first, last] = by_time_.equal_range(waiter->second.until);
  for (auto at = first; at != last; ++at)
    if (at->second == waiter) {
      by_time_.erase(at);
      break;
    }
  Waiter taken = std::move(waiter->second);
  waiters_.erase(waiter);
  return taken;
}

void RequestWaiters::settled(const std::vector<std::int64_t>& requests) {
  std::vector<Waiter> woken;
  {
    const std::lock_guard lock(mutex_);
    for (const std::int64_t request : requests)
      for (auto at = waiters_.find(request); at != waiters_.end(); at = waiters_.find(request))
        woken.push_back(take(at));
  }
  for (const Waiter& waiter : woken) waiter.wake();
}

void RequestWaiters::expire(std::chrono::milliseconds now) {
  std::vector<Waiter> woken;
  {
    const std::lock_guard lock(mutex_);
    while (!by_time_.empty() && by_time_.begin()->first <= now)
      woken.push_back(take(by_time_.begin()->second));
  }
  for (const Waiter& waiter : woken) waiter.wake();
}

void RequestWaiters::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  expire(std::chrono::milliseconds::max());
}

}  // namespace muster::fleet
