// Numbers in reasons, and numbers out of a seed.
#pragma once

#include <cstdint>
#include <string>

#include <muster/json.hpp>

namespace muster::classic {

// Larger counts are refused: no fleet has them, and sums of these stay exact in a double.
inline constexpr std::int64_t largest_count = 1'000'000'000'000;

inline std::string in_words(double number) {
  return json::write(json::value(number));
}

// Steele's splitmix64: the same seed gives the same numbers with every compiler and library, which
// the distributions of the standard library do not promise.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // Uniform below `bound`, which is not 0.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t unfair = -bound % bound;  // the first numbers would come once too often
    for (;;)
      if (const std::uint64_t drawn = next(); drawn >= unfair) return drawn % bound;
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace muster::classic
