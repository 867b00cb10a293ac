// Pools that are made through the Taskcluster API, with their launch configurations spelt out.
#pragma once

#include "host/fleet/model/configuration.hpp"
#include "host/pools/provider_facts.hpp"

namespace muster::pools {

// The strategy of all such pools, and the provider that launches nothing.
inline constexpr std::string_view api_pool_strategy = "estimator";
inline constexpr std::string_view null_provider = "null-provider";

// `document` is what its maker sent: {providerId, description, owner, emailOnError, config}, where
// config is {minCapacity, maxCapacity, scalingRatio, lifecycle, launchConfigs}. Each launch
// configuration names its place by `region`, `zone` or `location`, and reaches the provider under
// the provider's own section name, together with its workerManager and workerConfig.
//
// Fails as `not_found` with code "providerId" if there is no such provider, as `invalid` if the
// document is wrong (every mistake, one a line), with code "duplicateLaunchConfigId" if two launch
// configurations have the same id; otherwise with the provider's own error, if it is in trouble.
Result<fleet::PoolSpec> pool_from_api(const WorkerPoolId& worker_pool_id,
                                      const json::object& document,
                                      const ProviderContext& provider_context,
                                      const Expand& expand);

}  // namespace muster::pools
