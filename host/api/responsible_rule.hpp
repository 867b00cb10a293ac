// Which rule of a worker configuration is responsible for a value that is in force.
#pragma once

#include <optional>
#include <string>

#include "host/endpoints/call.hpp"

namespace muster::api {

// {"key", "value", "rule", "file", "line", "column", "replaced"} of the files that serve: the rule
// that set the key for the pool, or for one of its launch configurations, or the first key below
// it. Nothing if no rule did, or the pool comes from no file.
std::optional<json::object> find_responsible_rule(const endpoints::Call& call,
                                                  const WorkerPoolId& pool,
                                                  const LaunchConfigId& launch_config,
                                                  const std::string& key);

}  // namespace muster::api
