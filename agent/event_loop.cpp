#include "agent/event_loop.hpp"

#include <cerrno>
#include <poll.h>
#include <stdexcept>
#include <sys/timerfd.h>
#include <time.h>
#include <vector>

namespace muster::agent {

Time BootClock::now() const {
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

SteadyTime BootClock::steady() const {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return SteadyTime(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

EventLoop::EventLoop() : timer_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (!timer_) throw std::runtime_error("timerfd_create failed");
}

EventLoop::Id EventLoop::watch(int descriptor, short events, std::function<void(short)> ready) {
  watches_.emplace(++last_, Watch{descriptor, events, std::move(ready)});
  return last_;
}

void EventLoop::change(Id id, short events) {
  if (const auto found = watches_.find(id); found != watches_.end()) found->second.events = events;
}

EventLoop::Id EventLoop::at(SteadyTime when, std::function<void()> due) {
  timers_.emplace(when, Timer{++last_, std::move(due)});
  return last_;
}

EventLoop::Id EventLoop::after(std::chrono::milliseconds delay, std::function<void()> due) {
  return at(now() + delay, std::move(due));
}

void EventLoop::remove(Id id) {
  if (watches_.erase(id) > 0) return;
  for (auto timer = timers_.begin(); timer != timers_.end(); ++timer)
    if (timer->second.id == id) {
      timers_.erase(timer);
      return;
    }
}

void EventLoop::set_timer() {
  itimerspec setting{};
  if (!timers_.empty()) {
    const auto when = timers_.begin()->first.time_since_epoch();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(when);
    setting.it_value.tv_sec = seconds.count();
    setting.it_value.tv_nsec = std::chrono::nanoseconds(when - seconds).count();
    if (setting.it_value.tv_sec == 0 && setting.it_value.tv_nsec == 0) setting.it_value.tv_nsec = 1;
  }
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &setting, nullptr);
}

void EventLoop::fire_timers() {
  const SteadyTime until = now();
  while (!stopped_ && !timers_.empty() && timers_.begin()->first <= until) {
    const auto due = std::move(timers_.begin()->second.due);
    timers_.erase(timers_.begin());
    due();
  }
}

bool EventLoop::run_once() {
  if (watches_.empty() && timers_.empty()) return false;
  set_timer();
  std::vector<pollfd> polled{{timer_.get(), POLLIN, 0}};
  std::vector<Id> ids{0};
  for (const auto& [id, watch] : watches_) {
    polled.push_back({watch.descriptor, watch.events, 0});
    ids.push_back(id);
  }
  if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR)
    throw std::runtime_error("poll failed");
  if (polled[0].revents != 0) {
    std::uint64_t expirations = 0;
    [[maybe_unused]] const auto got = ::read(timer_.get(), &expirations, sizeof expirations);
  }
  fire_timers();
  for (std::size_t i = 1; i < polled.size() && !stopped_; ++i) {
    if (polled[i].revents == 0) continue;
    const auto found = watches_.find(ids[i]);  // an earlier callback may have removed it
    if (found == watches_.end()) continue;
    const auto ready = found->second.ready;  // it may remove itself
    ready(polled[i].revents);
  }
  return true;
}

void EventLoop::run() {
  while (!stopped_ && run_once()) {
  }
}

// -------------------------------------------------------------------------------------------------

ClockWatch::ClockWatch(EventLoop& loop, std::function<void()> changed)
    : loop_(loop), timer_(::timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (!timer_) return;  // then whatever else happens is the time to look
  arm();
  watch_ = loop_.watch(timer_.get(), POLLIN, [this, changed = std::move(changed)](short) {
    std::uint64_t expirations = 0;
    [[maybe_unused]] const auto got = ::read(timer_.get(), &expirations, sizeof expirations);
    arm();
    changed();
  });
}

ClockWatch::~ClockWatch() {
  loop_.remove(watch_);
}

// For a time that never comes, in the year 2255: the kernel cancels it when the clock is set.
void ClockWatch::arm() {
  itimerspec never{};
  never.it_value.tv_sec = 9'000'000'000;
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, nullptr);
}

}  // namespace muster::agent
