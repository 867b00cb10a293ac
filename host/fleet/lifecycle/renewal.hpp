// Pools renew themselves: workers whose launch configuration is outdated are replaced, not too many
// at once.
#pragma once

#include "host/fleet/lifecycle/draining.hpp"
#include "host/fleet/lifecycle/termination.hpp"

namespace muster::fleet {

class Renewal : Stage {
 public:
  Renewal(const StageContext& context, WorkerTermination& termination, Draining& draining)
      : Stage(context), termination_(termination), draining_(draining) {}

  // Whether the workers of its archived launch configurations are still what the pool wants.
  void judge_conformance(Index pool);
  // Tells outdated workers to end, as many as may end now.
  void cycle(Index pool);

 private:
  WorkerTermination& termination_;
  Draining& draining_;
};

}  // namespace muster::fleet
