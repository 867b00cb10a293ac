// What a plugin's waiting rests on, as an argument: tests neither sleep nor draw lots.
#pragma once

#include <chrono>
#include <functional>

#include <muster/context.hpp>

namespace muster::cloud {

// THREADS: both functions may be called from any thread.
struct Timing {
  // False if the call was cancelled meanwhile.
  std::function<bool(std::chrono::milliseconds, const Context&)> wait;
  std::function<double()> random;  // from 0 to 1
};

// Waits for real, and draws real lots.
Timing real_timing();

}  // namespace muster::cloud
