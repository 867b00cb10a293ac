// Callers take turns at something that serves one at a time; none waits longer than its own
// deadline.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace muster::plugin_loader {

class Turns {
 public:
  // Holds the turn for its scope, if it got it.
  class Turn {
   public:
    Turn(Turns& turns, std::chrono::steady_clock::time_point deadline) : turns_(turns) {
      std::unique_lock lock(turns_.mutex_);
      mine_ = turns_.freed_.wait_until(lock, deadline, [&] { return !turns_.taken_; });
      if (mine_) turns_.taken_ = true;
    }
    ~Turn() {
      if (!mine_) return;
      {
        const std::lock_guard lock(turns_.mutex_);
        turns_.taken_ = false;
      }
      turns_.freed_.notify_one();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    explicit operator bool() const { return mine_; }

   private:
    Turns& turns_;
    bool mine_ = false;
  };

 private:
  std::mutex mutex_;
  std::condition_variable freed_;
  bool taken_ = false;
};

}  // namespace muster::plugin_loader
