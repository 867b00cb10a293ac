// Launches that failed, for what the host does not learn of them by the launch or by a notice: the
// next bid tells it, once.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plugins/cloud/machines/machine.hpp"

namespace muster::azure {

// THREADS: one at a time. Bounded: after a minute a failure is forgotten, and what it is about
// tries for itself.
class LateFailures {
 public:
  // `began`: when the launch did. One that was on its way when another failed in the same way says
  // nothing new.
  void add(const Error& error, Time began, Time now);
  // The host has heard of it and holds its scope, which gets no bids from then on. Once an operator
  // has ended the hold, the old error must not begin it again.
  void told(const Error& error);
  // Nothing if no failure is about such a machine, or if the host was told. The hold is what is
  // left of it.
  std::optional<Error> about(const cloud::Machine& machine, const LaunchConfigId& launch_config,
                             Time now) const;

 private:
  struct Failure {
    Error error;
    Time at{}, until{}, forgotten{};
    std::set<std::string> told = {};  // types with their markets; "" if the scope has none
  };
  std::vector<Failure> failures_;
};

// A shortage of hardware, which Spot and Regular machines share.
bool is_allocation_failure(const Error& error);

}  // namespace muster::azure
