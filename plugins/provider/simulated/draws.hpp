// Chance that can be repeated: a draw is a function of the seed and of what is drawn for, and of
// nothing that happened before it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace muster::simulated {

// Different texts give unrelated numbers; so do different splits of the same text.
inline std::uint64_t hash(std::uint64_t seed, std::initializer_list<std::string_view> purpose) {
  std::uint64_t state = seed ^ 0xcbf29ce484222325;
  const auto mix = [&](unsigned char byte) { state = (state ^ byte) * 0x100000001b3; };
  for (const std::string_view part : purpose) {
    for (const char c : part) mix(static_cast<unsigned char>(c));
    mix(0xff);  // in no UTF-8 text
  }
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
  state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
  return state ^ (state >> 31);
}

// From 0 up to, but not including, 1.
inline double draw(std::uint64_t seed, std::initializer_list<std::string_view> purpose) {
  return static_cast<double>(hash(seed, purpose) >> 11) * 0x1.0p-53;
}

}  // namespace muster::simulated
