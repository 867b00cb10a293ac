// Launches that Azure accepted and that failed later. The host learns of the error by the next
// bids: what the error is about gets none until its hold is over.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugins/cloud/machines/machine.hpp"

namespace muster::azure {

// THREADS: one at a time. Bounded: what is over its hold is forgotten.
class LateFailures {
 public:
  void add(const Error& error, Time now);
  // Nothing if no failure is about such a machine. The hold is what is left of it.
  std::optional<Error> about(const cloud::Machine& machine, const LaunchConfigId& launch_config,
                             Time now);

 private:
  struct Failure {
    Error error;
    Time until{};
  };
  std::vector<Failure> failures_;
};

// A shortage of hardware, which Spot and Regular machines share.
bool is_allocation_failure(const Error& error);

}  // namespace muster::azure
