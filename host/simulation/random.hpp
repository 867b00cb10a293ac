// Numbers out of a seed, the same with every compiler and library.
#pragma once

#include <chrono>
#include <cstdint>

namespace muster::simulation {

// Steele's splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // From `low` to `high`, both included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
  }
  std::chrono::milliseconds between(std::chrono::milliseconds low, std::chrono::milliseconds high) {
    return std::chrono::milliseconds(between(low.count(), high.count()));
  }
  double fraction() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  bool happens(double probability) { return probability > 0 && fraction() < probability; }

 private:
  std::uint64_t state_;
};

}  // namespace muster::simulation
