// The context of a call that the host makes: a deadline, the host's clock, and a flag that
// ends it early.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

#include <muster/context.hpp>

namespace muster {

class DeadlineContext final : public Context {
 public:
  // `stop`, if given, is borrowed: set it to cancel the call from another thread.
  explicit DeadlineContext(std::chrono::milliseconds budget,
                           const std::atomic<bool>* stop = nullptr)
      : end_(std::chrono::steady_clock::now() + budget), stop_(stop) {}

  bool cancelled() const noexcept override { return (stop_ && *stop_) || time_left().count() == 0; }
  std::chrono::milliseconds time_left() const noexcept override {
    const auto left = end_ - std::chrono::steady_clock::now();
    return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(left),
                    std::chrono::milliseconds(0));
  }
  // Plugins behind a channel get the clock and the log that the channel was opened with; these are
  // for direct calls.
  Time now() const noexcept override {
    return std::chrono::time_point_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now());
  }
  void log(LogLevel, std::string_view) const noexcept override {}

 private:
  std::chrono::steady_clock::time_point end_;
  const std::atomic<bool>* stop_;
};

}  // namespace muster
