// What happens to a worker when its time has come.
#pragma once

#include "host/fleet/lifecycle/draining.hpp"
#include "host/fleet/lifecycle/quarantine.hpp"
#include "host/fleet/lifecycle/termination.hpp"

namespace muster::fleet {

class WorkerTimers : Stage {
 public:
  WorkerTimers(const StageContext& context, WorkerTermination& termination, Draining& draining,
               Quarantine& quarantine)
      : Stage(context), termination_(termination), draining_(draining), quarantine_(quarantine) {}

  // What is left to do for the caller.
  enum class Next { nothing, retry_launch };
  Next on_timer(Index worker);

 private:
  Next on_requested(Index worker);
  void on_running(Index worker);

  WorkerTermination& termination_;
  Draining& draining_;
  Quarantine& quarantine_;
};

}  // namespace muster::fleet
