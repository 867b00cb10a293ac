// A mutex for calls to something that serves one at a time: no caller waits for it longer than its
// own deadline.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace muster::plugin_loader {

class DeadlineMutex {
 public:
  // Holds the mutex for its scope, if it got it by the deadline.
  class Lock {
   public:
    Lock(DeadlineMutex& mutex, std::chrono::steady_clock::time_point deadline) : mutex_(mutex) {
      std::unique_lock lock(mutex_.mutex_);
      held_ = mutex_.freed_.wait_until(lock, deadline, [&] { return !mutex_.taken_; });
      if (held_) mutex_.taken_ = true;
    }
    ~Lock() {
      if (!held_) return;
      {
        const std::lock_guard lock(mutex_.mutex_);
        mutex_.taken_ = false;
      }
      mutex_.freed_.notify_one();
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    explicit operator bool() const { return held_; }

   private:
    DeadlineMutex& mutex_;
    bool held_ = false;
  };

 private:
  std::mutex mutex_;
  std::condition_variable freed_;
  bool taken_ = false;
};

}  // namespace muster::plugin_loader
