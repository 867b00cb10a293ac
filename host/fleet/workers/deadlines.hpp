// When a worker has to be looked at again.
#pragma once

#include "host/fleet/state/fleet_clock.hpp"
#include "host/fleet/state/host_identity.hpp"
#include "host/fleet/state/registry.hpp"

namespace muster::fleet {

class Deadlines {
 public:
  Deadlines(const Settings& settings, const HostIdentity& identity, const FleetClock& clock,
            const Registry& registry)
      : settings_(settings), identity_(identity), clock_(clock), registry_(registry) {}

  // Time::max(): never. What the worker is judged for by the time waits until the grace is over.
  Time due(const Worker& worker) const;
  // When one that is launched must have registered; one that was found at its provider has as long
  // as its credentials may last.
  Time registers_by(const Worker& worker) const;
  // Its launch, whose outcome is not known, is tried again with the same key.
  bool retries(const Worker& worker) const;
  // The time until which its owner declared it is over.
  bool has_expired(const Worker& worker) const;
  // It has no credentials, or they are over.
  bool has_lapsed(const Worker& worker) const;
  // When the end of its credentials matters; Time::max(): it does not.
  Time lapse(const Worker& worker) const;

 private:
  const Settings& settings_;
  const HostIdentity& identity_;
  const FleetClock& clock_;
  const Registry& registry_;
};

}  // namespace muster::fleet
