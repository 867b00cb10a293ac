#include "host/fleet/state/fleet_clock.hpp"

namespace muster::fleet {

FleetClock::FleetClock(const Settings& settings, Now now)
    : settings_(settings), now_(now), grace_until_(now.wall + settings.grace) {}

bool FleetClock::advance(Now now) {
  const auto wall = now.wall - now_.wall;
  const auto steady = now.steady - now_.steady;
  const bool was_set = std::chrono::abs(wall - steady) > settings_.clock_jump;
  if (was_set) grace_until_ = now.wall + settings_.grace;
  now_ = now;
  return was_set;
}

}  // namespace muster::fleet
