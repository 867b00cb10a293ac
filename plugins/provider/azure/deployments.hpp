// Deployments of templates on their way to machines.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "plugins/provider/azure/launch_follower.hpp"
#include "plugins/provider/azure/settings.hpp"

namespace muster::azure {

// A resource group takes 800 deployments: what is over is removed. THREADS: one at a time.
class Deployments {
 public:
  Deployments(const Settings& settings, Api& api, LaunchFollower& follower)
      : settings_(settings), api_(api), follower_(follower) {}

  // A deployment was begun in the group: lists have to look for it.
  void begun(const std::string& group) { idle_.erase(group); }

  struct Outcome {
    std::vector<Instance> pending;    // machines that are not listed yet
    std::set<std::string> under_way;  // Names::suffix
    std::set<std::string> failed;     // likewise: what they have made is to be ended
  };
  // One list of the group, and none while no deployment is under way. `machines` are the names of
  // those that are listed.
  Result<Outcome> look(const Owner& owner, const std::string& group,
                       const std::set<std::string>& machines, const Context& context);

 private:
  const Settings& settings_;
  Api& api_;
  LaunchFollower& follower_;
  std::set<std::string> idle_;  // groups without deployments of ours
};

}  // namespace muster::azure
