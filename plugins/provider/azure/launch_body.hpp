// What is sent to Azure for one worker.
#pragma once

#include "plugins/cloud/machines/ownership.hpp"
#include "plugins/provider/azure/names.hpp"
#include "plugins/provider/azure/section.hpp"

namespace muster::azure {

// The tags of one machine: muster's own, and those that images of Taskcluster read.
cloud::Tags machine_tags(const AllocateRequest& request, const cloud::Machine& machine,
                         const IdempotencyKey& key);

// `user_data` in base64.
struct LaunchParts {
  const cloud::Machine& machine;
  const Names names;
  const cloud::Tags& tags;
  const std::string& user_data;
};

// The body of the PUT of a virtual machine. Everything in it ends with the machine.
json::object machine_body(const LaunchParts& parts);

// The body of the PUT of a deployment, for a launch document with armDeployment.
json::object deployment_body(const LaunchParts& parts);

}  // namespace muster::azure
