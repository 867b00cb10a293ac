// Workers that take no new work, because they are too many or for another reason, and those that
// serve again.
#pragma once

#include <string>

#include "host/fleet/lifecycle/termination.hpp"
#include "host/fleet/workers/stage.hpp"

namespace muster::fleet {

class Draining : Stage {
 public:
  Draining(const StageContext& context, WorkerTermination& termination)
      : Stage(context), termination_(termination) {}

  void start(Index worker, Drain drain, std::string reason);
  // It serves again, unless there is another reason why it should not.
  void end(Index worker, const std::string& why);
  // Its provider takes it away soon.
  void interrupt(Index worker, const Interruption& interruption);

  // Nothing waits, and what is left is enough for the least and the warm capacity.
  bool may_shrink(const Pool& pool, const Worker& worker) const;
  // Idle workers of the pool that are too many drain.
  void shrink(Index pool);
  // Workers that drain only because they were too many serve on, up to the capacity that is wanted;
  // returns theirs.
  std::int64_t keep_surplus(Index pool, std::int64_t wanted);

 private:
  WorkerTermination& termination_;
};

}  // namespace muster::fleet
