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
  // Its launch, whose outcome is not known, is tried again with the same key.
  bool retries(const Worker& worker) const;
  // The time until which its owner declared it is over.
  bool has_expired(const Worker& worker) const;
  // It has no credentials, or they are over.
  bool has_lapsed(const Worker& worker) const;
  // When the end of its credentials matters; Time::max(): it does not.
  Time lapse(const Worker& worker) const;
  // When it was launched and silent for too long, when a launch without an answer was, when a
  // worker that runs was, when it was idle for long enough to end, and when one that should end by
  // itself had its time. Of each, time in which the host could not hear does not count. One that
  // was found at its provider may register for as long as its credentials may last.
  Time registration_ends(const Worker& worker) const;
  Time is_lost(const Worker& worker) const;
  Time is_inactive(const Worker& worker) const;
  Time is_long_idle(const Worker& worker) const;
  Time drain_ends(const Worker& worker) const;

 private:
  Time credentials_end(const Worker& worker, std::chrono::milliseconds later) const;

  const Settings& settings_;
  const HostIdentity& identity_;
  const FleetClock& clock_;
  const Registry& registry_;
};

}  // namespace muster::fleet
