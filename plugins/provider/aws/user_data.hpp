// What a machine finds when it starts: where its host is and which worker it is.
#pragma once

#include <string>

#include <muster/error.hpp>
#include <muster/json.hpp>

#include "plugins/provider/aws/section.hpp"

namespace muster::aws {

inline constexpr std::size_t most_user_data = 16384;  // bytes, before base64; EC2's limit

// As muster-agent and worker-runner read it: {"rootUrl", "workerPoolId", "providerId",
// "workerGroup", "launchConfigId", "workerConfig", ...}, or the team's template with it. `config`
// if it is larger than EC2 takes.
Result<std::string> make_user_data(const Machine& machine, const std::string& launch_config_id,
                                   const json::object& registration);

// What can be known of it before there is a launch: `invalid` for a template that lacks
// {{registration}} or has other fields, and for what cannot fit.
Result<void> check_user_data(const json::object& section, const json::object& document);

std::string base64(std::string_view bytes);

}  // namespace muster::aws
