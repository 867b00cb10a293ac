// The time of the decision that is being made, and whether times may be judged by it.
#pragma once

#include "host/fleet/model/now.hpp"
#include "host/fleet/model/settings.hpp"

namespace muster::fleet {

class FleetClock {
 public:
  // Begins with the grace of a start.
  FleetClock(const Settings& settings, Now now);

  // True: the wall clock was set since the last call. Then no worker is judged by the time for a
  // while.
  bool advance(Now now);

  Time now() const { return now_.wall; }
  Now both() const { return now_; }
  Time grace_until() const { return grace_until_; }
  bool may_judge() const { return now_.wall >= grace_until_; }

 private:
  const Settings& settings_;
  Now now_;
  Time grace_until_;
};

}  // namespace muster::fleet
