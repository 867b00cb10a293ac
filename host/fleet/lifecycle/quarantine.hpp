// Workers that are there and may not work: their credentials lapsed, they are not in the state that
// their pool wants, or an operator said so.
#pragma once

#include <string>

#include "host/fleet/lifecycle/draining.hpp"
#include "host/fleet/lifecycle/termination.hpp"

namespace muster::fleet {

class Quarantine : Stage {
 public:
  Quarantine(const StageContext& context, WorkerTermination& termination, Draining& draining)
      : Stage(context), termination_(termination), draining_(draining) {}

  // See Fleet::quarantine and Fleet::not_conformant.
  // See Fleet::drain.
  Result<void> drain(const WorkerName& name, const std::string& reason);
  Result<void> set(const WorkerName& name, Time until, const std::string& reason);
  void not_conformant(const WorkerName& name, const ProviderId& provider,
                      const std::string& reason);
  // Its time is over.
  void expire(Index worker);
  // It waits until somebody has repaired it.
  void set_aside(Index worker, std::string reason);
  // A worker that registers has shown that it is in the state that the newest document wants.
  void follow_newest(Index worker);
  // Its credentials are over.
  void on_lapse(Index worker);

 private:
  void report(const char* kind, const Worker& worker, const std::string& text,
              json::object details);

  WorkerTermination& termination_;
  Draining& draining_;
};

}  // namespace muster::fleet
