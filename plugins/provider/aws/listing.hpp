// All machines of an owner, region by region.
#pragma once

#include <muster/provider_types.hpp>

#include "plugins/cloud/machines/recent_instances.hpp"
#include "plugins/provider/aws/api.hpp"

namespace muster::aws {

// Asks all regions at the same time, a thousand machines in a call. A region that fails is a
// problem with the region as its scope. Machines that somebody has stopped are terminated: they
// are no workers any more, and their volumes cost money.
Listing list_instances(const Owner& owner, const std::vector<std::string>& regions, Api& api,
                       RecentInstances& recent, const Context& context);

// The machines of one launch configuration in a region, also those that have ended.
Result<std::vector<Instance>> find_launched(const Owner& owner, const std::string& region,
                                            const LaunchConfigId& launch_config, Api& api,
                                            const Context& context);

}  // namespace muster::aws
