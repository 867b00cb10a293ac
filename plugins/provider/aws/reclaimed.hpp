// Spot machines that AWS took back in the last hour: EC2 itself remembers them for so long.
#pragma once

#include <map>
#include <set>
#include <string>

#include "plugins/cloud/machines/launch_history.hpp"
#include "plugins/provider/aws/api.hpp"

namespace muster::aws {

// THREADS: one at a time. The references are borrowed.
class Reclaimed {
 public:
  Reclaimed(Api& api, LaunchHistory& history) : api_(api), history_(history) {}

  // Asks each region at most once in five minutes. A region that does not answer is as it was.
  void refresh(const Owner& owner, const std::set<std::string>& regions, const Context& context);

 private:
  Api& api_;
  LaunchHistory& history_;
  std::map<std::string, Time> ask_again_;  // by region
};

}  // namespace muster::aws
