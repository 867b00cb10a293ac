#include "plugins/cloud/timing.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

namespace muster::cloud {
namespace {

constexpr std::chrono::milliseconds between_looks{20};

bool wait(std::chrono::milliseconds time, const Context& context) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (!context.cancelled()) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left.count() <= 0) return true;
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, between_looks));
  }
  return false;
}

struct Lots {
  std::mutex mutex;
  std::minstd_rand source{std::random_device{}()};
};

}  // namespace

Timing real_timing() {
  return {.wait = wait, .random = [lots = std::make_shared<Lots>()] {
            const std::lock_guard lock(lots->mutex);
            return std::uniform_real_distribution(0.0, 1.0)(lots->source);
          }};
}

}  // namespace muster::cloud
