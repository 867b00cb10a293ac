// The two clocks of the host, behind one interface so that decisions and tests never read the
// machine's time on their own.
#pragma once

#include <chrono>

#include <muster/context.hpp>

namespace muster {

// For deadlines and durations: never jumps when somebody sets the machine's clock.
using SteadyTime = std::chrono::steady_clock::time_point;

// THREADS: every method may be called from any thread at any time.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() const = 0;
  virtual SteadyTime steady() const = 0;
};

class SystemClock final : public Clock {
 public:
  Time now() const override;
  SteadyTime steady() const override;
};

}  // namespace muster
