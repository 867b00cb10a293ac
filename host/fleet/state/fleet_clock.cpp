#include "host/fleet/state/fleet_clock.hpp"

namespace muster::fleet {

FleetClock::FleetClock(const Settings& settings, Now now)
    : settings_(settings), now_(now), listening_(now.wall, settings.grace) {}

std::chrono::milliseconds FleetClock::advance(Now now, Since since) {
  const Time expected = now_.wall + (now.steady - now_.steady);  // if nobody set the clock
  if (since == Since::deaf) listening_.was_deaf(now_.wall, expected);
  const auto set_by = now.wall - expected;
  now_ = now;
  if (std::chrono::abs(set_by) <= settings_.clock_jump) return {};
  listening_.clock_was_set(expected, now.wall);
  return set_by;
}

}  // namespace muster::fleet
