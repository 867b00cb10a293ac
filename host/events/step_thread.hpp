// A thread that does one step after another: what is due, then it waits until the next step is.
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

class StepThread {
 public:
  struct Work {
    std::function<SteadyTime()> step;      // as Webhook::step()
    std::function<int()> descriptor = {};  // that may also be waited for; negative: none
    std::function<void()> interrupt = {};  // ends a step that waits; called by stop()
    std::function<void()> end = {};        // on the thread, as the last thing
  };

  StepThread(std::shared_ptr<Waker> waker, Work work);
  // Like stop().
  ~StepThread();
  StepThread(const StepThread&) = delete;
  StepThread& operator=(const StepThread&) = delete;

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
