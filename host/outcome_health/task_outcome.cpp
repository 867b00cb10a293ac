#include "host/outcome_health/task_outcome.hpp"

namespace muster::outcome_health {

// Of exceptions only those count that a healthy machine would not have had. All others are the
// doing of the task ("malformed-payload", "intermittent-task"), of its owner ("canceled",
// "superseded", "deadline-exceeded") or of a provider that took the machine away
// ("worker-shutdown", "claim-expired": a preempted machine looks the same as one that hangs).
Counted counted(Resolution resolution, std::string_view reason) {
  switch (resolution) {
    case Resolution::completed:
      return Counted::as_completed;
    case Resolution::failed:
      return Counted::as_failed;
    case Resolution::exception:
      break;
  }
  return reason == "internal-error" || reason == "resource-unavailable" ? Counted::as_failed
                                                                        : Counted::not_at_all;
}

}  // namespace muster::outcome_health
