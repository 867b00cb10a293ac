// The time of the decision that is being made, and how the silence of others is judged by it.
#pragma once

#include "host/fleet/model/now.hpp"
#include "host/fleet/model/settings.hpp"
#include "lib/base/listening.hpp"

namespace muster::fleet {

class FleetClock {
 public:
  // Begins with the grace of a start.
  FleetClock(const Settings& settings, Now now);

  // The host before this one heard others until then.
  void heard_before_start(Time until) { listening_.heard_before_start(until); }

  enum class Since { heard, deaf };
  // By how much the wall clock was set since the last call; 0: it was not. `deaf`: nobody could be
  // heard since the last call.
  std::chrono::milliseconds advance(Now now, Since since = Since::heard);

  Time now() const { return now_.wall; }
  Now both() const { return now_; }
  const Listening& listening() const { return listening_; }
  // When somebody who was heard last at `from` was silent for so long. Time in which the host
  // could not hear does not count.
  Time deadline(Time from, std::chrono::milliseconds patience) const {
    return listening_.deadline(from, patience);
  }
  Time grace_until() const { return listening_.judges_from(); }
  bool may_judge() const { return now_.wall >= grace_until(); }

 private:
  const Settings& settings_;
  Now now_;
  Listening listening_;
};

}  // namespace muster::fleet
