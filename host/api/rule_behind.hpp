// Which rule of a worker configuration says what is in force.
#pragma once

#include "host/wiring/fleet_runtime.hpp"

namespace muster::api {

// {"key", "value", "rule", "file", "line", "column", "replaced"} of the files that serve: who set
// the key for the pool, or for one of its launch configurations, or the first below it. Nothing if
// no rule did, or the pool comes from no file.
std::optional<json::object> rule_behind(FleetRuntime& host, const WorkerPoolId& pool,
                                        const LaunchConfigId& launch_config,
                                        const std::string& key);

}  // namespace muster::api
