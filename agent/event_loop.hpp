// The one loop of the agent: descriptors, timers and nothing else. Sleeps in poll() until there is
// something to do.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "lib/base/clock.hpp"
#include "lib/base/file_descriptor.hpp"

namespace muster::agent {

// The machine's clocks. steady() goes on while the machine sleeps, as credentials grow old then,
// too.
class BootClock final : public Clock {
 public:
  Time now() const override;
  SteadyTime steady() const override;
};

// THREADS: one. Callbacks may add and remove anything, also themselves.
class EventLoop {
 public:
  using Id = std::uint64_t;  // 0: none

  EventLoop();

  // `ready` is called with the events that poll() reports, as long as it is watched. The
  // descriptor stays the caller's and must outlive the watch.
  Id watch(int descriptor, short events, std::function<void(short)> ready);
  void change(Id watch, short events);
  // Calls `due` once.
  Id at(SteadyTime when, std::function<void()> due);
  Id after(std::chrono::milliseconds delay, std::function<void()> due);
  // IDEMPOTENT; what is unknown or over is fine.
  void remove(Id id);

  void run();  // until stop()
  void stop() { stopped_ = true; }
  // Waits for at most one round of events; false if there is nothing to wait for.
  bool run_once();

  SteadyTime now() const { return clock_.steady(); }

 private:
  struct Watch {
    int descriptor;
    short events;
    std::function<void(short)> ready;
  };
  struct Timer {
    Id id;
    std::function<void()> due;
  };

  void set_timer();
  void fire_timers();

  BootClock clock_;
  FileDescriptor timer_;
  bool stopped_ = false;
  Id last_ = 0;
  std::map<Id, Watch> watches_;
  std::multimap<SteadyTime, Timer> timers_;
};

// Calls `changed` when somebody has set the machine's wall clock, or the machine has slept.
class ClockWatch {
 public:
  ClockWatch(EventLoop& loop, std::function<void()> changed);
  ~ClockWatch();
  ClockWatch(const ClockWatch&) = delete;
  ClockWatch& operator=(const ClockWatch&) = delete;

 private:
  void arm();

  EventLoop& loop_;
  const FileDescriptor timer_;
  EventLoop::Id watch_ = 0;
};

}  // namespace muster::agent
