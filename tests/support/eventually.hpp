// Waits for something that another thread or process does. Never for time: it returns as soon as it
// is so.
#pragma once

#include <chrono>
#include <thread>

namespace muster::testing {

// False if it is not so for that long, which is a failure and not a measure of speed.
template <class So>
bool eventually(So so, std::chrono::seconds patience = std::chrono::seconds(60)) {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!so()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

}  // namespace muster::testing
