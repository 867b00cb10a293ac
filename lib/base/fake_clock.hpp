// A clock that moves only when a test says so. Both of its faces move together, unless it is set.
#pragma once

#include <atomic>

#include "lib/base/clock.hpp"

namespace muster {

class FakeClock final : public Clock {
 public:
  // 2001-09-09T01:46:40Z: an hour that no test can mistake for today.
  explicit FakeClock(Time start = Time(std::chrono::milliseconds(1'000'000'000'000)))
      : start_(start) {}

  Time now() const override { return start_ + passed() + std::chrono::milliseconds(set_by_); }
  SteadyTime steady() const override { return SteadyTime(std::chrono::hours(1)) + passed(); }

  void advance(std::chrono::milliseconds by) { passed_ += by.count(); }
  // Somebody sets the machine's clock: the wall clock jumps, the steady one does not.
  void set_by(std::chrono::milliseconds by) { set_by_ += by.count(); }

 private:
  std::chrono::milliseconds passed() const { return std::chrono::milliseconds(passed_.load()); }

  Time start_;
  std::atomic<std::int64_t> passed_ = 0, set_by_ = 0;
};

}  // namespace muster
