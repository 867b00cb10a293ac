// How fast and how many at once: the back-pressure of one provider.
#pragma once

#include <cstdint>

#include <muster/context.hpp>

namespace muster::allocation {

struct ThrottleSettings {
  double launches_per_second = 20;
  double burst = 100;  // launches that may go at once after a pause
  std::int64_t calls_at_once = 4;
  friend bool operator==(const ThrottleSettings&, const ThrottleSettings&) = default;
};

// A token bucket whose rate halves when the provider says "too fast" and comes back by a tenth of
// the full rate with every launch call that it took well.
class Throttle {
 public:
  explicit Throttle(ThrottleSettings settings = {});

  // Calls that are on their way still count. The rate begins anew.
  void change(ThrottleSettings settings);

  // How many of the wanted launches may go now in one call; 0: none. A call for many waits until
  // there is room for two seconds' worth of them: clouds count calls, too.
  std::int64_t room(Time now, std::int64_t wanted = 1);
  void begin(std::int64_t launches);
  void ended(bool too_fast);

  // When room() for as many is worth asking again if it is 0 for want of tokens; Time::max() if it
  // waits for a call to end.
  Time next(Time now, std::int64_t wanted = 1) const;
  const ThrottleSettings& settings() const { return settings_; }
  double rate() const { return rate_; }
  std::int64_t calls() const { return calls_; }

 private:
  void refill(Time now);
  std::int64_t least(std::int64_t wanted) const;

  ThrottleSettings settings_;
  double rate_;
  double tokens_;
  Time refilled_{};
  std::int64_t calls_ = 0;
};

}  // namespace muster::allocation
