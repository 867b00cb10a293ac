#include "lib/base/time_watch.hpp"

#include <algorithm>

namespace muster {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds at_the_same_time = 5ms;
constexpr int attempts_to_read = 5;  // on a machine that is very busy
constexpr std::chrono::milliseconds longest_between_looks = 5s;
constexpr std::chrono::milliseconds clock_jump = 1s;

}  // namespace

BothClocks read_both(const Clock& clock) {
  for (int attempt = 1;; ++attempt) {
    const SteadyTime before = clock.steady();
    const Time wall = clock.now();
    if (clock.steady() - before <= at_the_same_time || attempt == attempts_to_read)
      return {wall,
              std::chrono::duration_cast<std::chrono::milliseconds>(before.time_since_epoch())};
  }
}

TimeWatch::TimeWatch(const Clock& clock, std::chrono::milliseconds longest_return)
    : clock_(clock),
      last_(read_both(clock)),
      latest_(last_.wall),
      listening_(last_.wall, longest_return) {}

void TimeWatch::look() {
  const std::lock_guard lock(mutex_);
  look_at(read_both(clock_));
}

void TimeWatch::look_at(BothClocks now) {
  const auto passed = now.steady - last_.steady;
  const Time expected = last_.wall + passed;
  if (passed > longest_between_looks) listening_.was_deaf(last_.wall, expected);
  if (std::chrono::abs(now.wall - expected) > clock_jump)
    listening_.clock_was_set(expected, now.wall);
  last_ = now;
  latest_ = std::max({latest_, expected, now.wall});
}

void TimeWatch::saw(Time time) {
  const std::lock_guard lock(mutex_);
  latest_ = std::max(latest_, time);
}

std::vector<Time> TimeWatch::last_moments() {
  const std::lock_guard lock(mutex_);
  look_at(read_both(clock_));
  return listening_.last_moments(last_.wall);
}

Time TimeWatch::deadline(Time from, std::chrono::milliseconds patience) {
  const std::lock_guard lock(mutex_);
  look_at(read_both(clock_));
  return listening_.deadline(from, patience);
}

std::optional<Time> TimeWatch::latest_ahead() {
  const std::lock_guard lock(mutex_);
  look_at(read_both(clock_));
  return latest_ > last_.wall + clock_jump ? std::optional(latest_) : std::nullopt;
}

}  // namespace muster
