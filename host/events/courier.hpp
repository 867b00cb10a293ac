// A thread that carries events to one consumer: it does what is due and waits until more is.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "lib/base/clock.hpp"
#include "lib/base/file_descriptor.hpp"

namespace muster::events {

// Wakes one thread that waits. Shared by all who may wake it, and may outlive it. THREADS: any.
class Waker {
 public:
  Waker();
  void wake() const;
  // Until woken, until `descriptor` (unless negative) has something to read, or until then.
  void wait(SteadyTime until, int descriptor = -1) const;

 private:
  FileDescriptor event_;
};

class Courier {
 public:
  struct Work {
    std::function<SteadyTime()> step;      // as Webhook::step()
    std::function<int()> descriptor = {};  // that may also be waited for; negative: none
    std::function<void()> interrupt = {};  // ends a step that waits; called by stop()
    std::function<void()> end = {};        // on the thread, as the last thing
  };

  Courier(std::shared_ptr<Waker> waker, Work work);
  // Like stop().
  ~Courier();
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

  void wake() const { waker_->wake(); }
  // Ends the thread; what it was in the middle of is interrupted. IDEMPOTENT. THREADS: one at a
  // time, not its own.
  void stop();

 private:
  void run();

  const std::shared_ptr<Waker> waker_;
  const Work work_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace muster::events
