// A clock that moves only when a test says so. Both of its faces move together.
#pragma once

#include <atomic>

#include "lib/base/clock.hpp"

namespace muster {

class FakeClock final : public Clock {
 public:
  // 2001-09-09T01:46:40Z: an hour that no test can mistake for today.
  explicit FakeClock(Time start = Time(std::chrono::milliseconds(1'000'000'000'000)))
      : start_(start) {}

  Time now() const override { return start_ + passed(); }
  SteadyTime steady() const override { return SteadyTime(std::chrono::hours(1)) + passed(); }

  void advance(std::chrono::milliseconds by) { passed_ += by.count(); }

 private:
  std::chrono::milliseconds passed() const { return std::chrono::milliseconds(passed_.load()); }

  Time start_;
  std::atomic<std::int64_t> passed_ = 0;
};

}  // namespace muster
