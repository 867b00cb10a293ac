// When there will be room: out of what is under way, how long it has been so, and how long such
// things took before.
#pragma once

#include <chrono>
#include <optional>
#include <span>

#include "host/verdict/durations.hpp"

namespace muster::verdict {

// Something that brings room when it is over: a launch, or a lease.
struct RoomSource {
  const Durations* takes = nullptr;  // borrowed
  std::chrono::milliseconds age{};   // how long it has been under way
  double room = 1;                   // how many of those who wait it serves
  double times = 1;                  // it stands for so many that are alike
  bool again = false;                // another one takes its place then, as a lease's worker does
};

// From now on.
struct Expectation {
  std::chrono::milliseconds p50{}, p90{};  // so likely it has happened by then
};

// When there will have been room for so many. Pure. Nothing if that is not to be expected within a
// month, or nothing is known of how long they take.
//
// What has come by a time is a sum of many chances, and so roughly normal: its mean is the sum of
// the chances, its variance that of their p(1 - p). What comes again and again does so once in its
// mean time, from the end of the first on.
std::optional<Expectation> when_there_is_room(std::span<const RoomSource> sources, double room);

}  // namespace muster::verdict
