// Tries out what launches need, without any effect: `muster provider doctor`.
#pragma once

#include <muster/provider_types.hpp>

#include "plugins/provider/google/api.hpp"
#include "plugins/provider/google/settings.hpp"

namespace muster::google {

// Network path, credentials, clock and every permission; in each region quotas; machine types,
// images and subnetworks of the launch configurations.
Diagnosis make_diagnosis(const DiagnoseRequest& request, const Settings& settings, Api& api,
                         const Context& context);

}  // namespace muster::google
