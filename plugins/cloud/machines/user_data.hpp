// What a machine finds when it starts: where its host is and which worker it is.
#pragma once

#include <string>

#include <muster/error.hpp>
#include <muster/json.hpp>

#include "plugins/cloud/machines/machine.hpp"

namespace muster::cloud {

struct UserDataLimits {
  std::size_t most = 16384;  // bytes that the cloud takes, before base64
};

// As muster-agent and worker-runner read it: {"rootUrl", "workerPoolId", "providerId",
// "workerGroup", "launchConfigId", "workerConfig", ...}, with Taskcluster's own names.
// `registration` is the request's.
json::object registration_of(const json::object& registration, const std::string& worker_group,
                             const std::string& launch_config_id);

// The document above, with what the team added; or the team's template with it. `config` if it is
// larger than the cloud takes.
Result<std::string> make_user_data(const Words& words, const UserDataLimits& limits,
                                   const Machine& machine, const std::string& launch_config_id,
                                   const json::object& registration);

// What can be known of it before there is a launch: `invalid` for a template that lacks
// {{registration}} or has other fields, and for what cannot fit. `document` is the whole evaluated
// worker configuration.
Result<void> check_user_data(const Words& words, const UserDataLimits& limits,
                             const json::object& section, const json::object& document);

// The schema of the section's `userData`.
json::object user_data_schema();

}  // namespace muster::cloud
