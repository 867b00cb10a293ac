// Ends machines.
#pragma once

#include <muster/provider_types.hpp>

#include "plugins/cloud/machines/recent_instances.hpp"
#include "plugins/provider/aws/api.hpp"

namespace muster::aws {

// In batches, one after the other in a region. What EC2 does not know has ended, unless it was
// launched so recently that EC2 may not know it yet.
Termination terminate_instances(const TerminateRequest& request, Api& api, RecentInstances& recent,
                                const Context& context);

}  // namespace muster::aws
