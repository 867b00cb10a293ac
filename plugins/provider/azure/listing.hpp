// All machines of an owner, resource group by resource group.
#pragma once

#include <map>

#include "plugins/cloud/machines/recent_instances.hpp"
#include "plugins/provider/azure/deployments.hpp"
#include "plugins/provider/azure/leftovers.hpp"

namespace muster::azure {

// THREADS: one at a time. All references are borrowed.
class Lister {
 public:
  struct Parts {
    cloud::RecentInstances& recent;
    LaunchFollower& follower;
    Deployments& deployments;
    Leftovers& leftovers;
  };
  Lister(const Settings& settings, Api& api, Parts parts)
      : settings_(settings), api_(api), parts_(parts) {}

  // One list for each resource group, all groups at the same time, and one of the subscription with
  // the instance views. A group that fails is a problem of each of its locations; fails only if all
  // do. Machines that were not made, were stopped or evicted are deleted: they are no workers any
  // more, and their disks cost money. So is what is left over.
  Result<Listing> list(const Owner& owner, const Context& context);

 private:
  struct Group {
    std::string name;
    std::vector<VirtualMachine> machines = {};
    std::optional<Error> error = {};
  };

  void list_group(const Owner& owner, Group& group, const Context& context) const;
  void add_instance_views(std::vector<Group>& groups, const Context& context);
  void end(const std::vector<const VirtualMachine*>& machines, const Context& context) const;
  void add_missing(const Owner& owner, const std::string& location, Listing& listing,
                   const Context& context);
  void settle(const Owner& owner, Group& group, Listing& listing, const Context& context);

  const Settings& settings_;
  Api& api_;
  const Parts parts_;
  Time views_again_{};
};

}  // namespace muster::azure
