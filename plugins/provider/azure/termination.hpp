// Ends machines.
#pragma once

#include "plugins/cloud/machines/recent_instances.hpp"
#include "plugins/provider/azure/leftovers.hpp"

namespace muster::azure {

// Several at a time. What Azure does not know has ended; a deployment that has not made its machine
// yet is cancelled, and what it has made is left to the sweep.
Termination terminate_machines(const TerminateRequest& request, const Settings& settings, Api& api,
                               cloud::RecentInstances& recent, Leftovers& leftovers,
                               const Context& context);

}  // namespace muster::azure
