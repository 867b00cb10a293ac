// Tries out what launches need, without any effect: `muster provider doctor`.
#pragma once

#include <muster/provider_types.hpp>

#include "plugins/provider/aws/api.hpp"
#include "plugins/provider/aws/settings.hpp"

namespace muster::aws {

// Credentials and clock; in each region the network path and every permission (DryRun); images,
// subnets, security groups, types and quotas of the launch configurations there.
Diagnosis make_diagnosis(const DiagnoseRequest& request, const Settings& settings,
                         const std::vector<std::string>& regions, Api& api, const Context& context);

// If not even the account's regions can be asked for.
Diagnosis diagnosis_without_regions(const Settings& settings, const Error& error);

}  // namespace muster::aws
