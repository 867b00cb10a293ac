// The time as the fleet is told it.
#pragma once

#include <chrono>

#include <muster/context.hpp>

namespace muster::fleet {

// Both clocks: the wall clock for what is stored and shown, the steady clock to notice that the
// wall clock jumped.
struct Now {
  Time wall{};
  std::chrono::milliseconds steady{};
};

}  // namespace muster::fleet
