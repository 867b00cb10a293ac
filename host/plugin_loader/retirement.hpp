// Where backends go to end. Ending one can take seconds (a plugin may clean up), and the last to
// hold one may be a caller who only wanted an answer; so they are ended here, on a thread of their
// own.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "host/plugin_loader/backend.hpp"

namespace muster::plugin_loader {

// Held by shared_ptr, also by every backend that it adopted.
class Retirement : public std::enable_shared_from_this<Retirement> {
 public:
  // `ended` is called on its thread after each end.
  explicit Retirement(std::function<void()> ended);
  // Ends what is left.
  ~Retirement();
  Retirement(const Retirement&) = delete;
  Retirement& operator=(const Retirement&) = delete;

  // The same backend, but the last holder does not wait for its end.
  std::shared_ptr<Backend> adopt(std::shared_ptr<Backend> backend);

 private:
  void run();

  const std::function<void()> ended_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Backend>> queue_;
  bool leaving_ = false;
  std::thread thread_;
};

}  // namespace muster::plugin_loader
