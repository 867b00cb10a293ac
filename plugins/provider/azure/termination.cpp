#include "plugins/provider/azure/termination.hpp"

#include <algorithm>

#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/machines/ownership.hpp"
#include "plugins/cloud/parallel.hpp"
#include "plugins/provider/azure/targets.hpp"

namespace muster::azure {
namespace {

using cloud::text_of;

// The group of the launch, as long as the provider has it; that of the location otherwise.
std::string group_for(const WorkerRef& worker, const Settings& settings) {
  const auto groups = settings.groups();
  std::string said = text_of(worker.provider_data, "group");
  if (std::ranges::find(groups, said) != groups.end()) return said;
  return settings.uses(worker.worker_group.str()) ? settings.group_of(worker.worker_group.str())
                                                  : std::string();
}

std::optional<Error> end(const WorkerRef& worker, const std::string& group,
                         const Settings& settings, Api& api, const Context& context) {
  const std::string path = settings.group_path(group);
  if (const std::string deployment = text_of(worker.provider_data, "deployment");
      !deployment.empty() && is_machine_name(deployment)) {
    // Over, or not there: then there is nothing to cancel.
    const auto cancelled = api.call(
        {.method = "POST",
         .target = target_of(path, type::deployments, deployment, version::resources, "/cancel")},
        context);
    if (!cancelled && cancelled.error().error_class == ErrorClass::cancelled)
      return cancelled.error();
  }
  const auto deleted = api.call(
      {.method = "DELETE",
       .target = target_of(path, type::machines, worker.worker_id.str(), version::compute) +
                 "&forceDeletion=true",
       .about = in_location(worker.worker_group.str())},
      context);
  if (deleted || deleted.error().error_class == ErrorClass::not_found) return std::nullopt;
  return deleted.error();
}

}  // namespace

Termination terminate_machines(const TerminateRequest& request, const Settings& settings, Api& api,
                               cloud::RecentInstances& recent, Leftovers& leftovers,
                               const Context& context) {
  std::vector<std::optional<Error>> errors(request.workers.size());
  std::vector<char> asked(request.workers.size());
  cloud::in_parallel(request.workers.size(), [&](std::size_t at) {
    const WorkerRef& worker = request.workers[at];
    const std::string group = group_for(worker, settings);
    if (!cloud::belongs_to(worker.provider_data, request.owner)) {
      errors[at] = cloud::not_yours(worker, request.owner);
      return;
    }
    // A name that Azure cannot have is no machine.
    if (!is_machine_name(worker.worker_id.str()) || group.empty()) return;
    asked[at] = 1;
    errors[at] = end(worker, group, settings, api, context);
  });
  Termination termination;
  for (std::size_t at = 0; at < errors.size(); ++at) {
    const WorkerRef& worker = request.workers[at];
    if (errors[at])
      termination.failures.push_back({worker.worker_group, worker.worker_id, *errors[at]});
    else if (asked[at])
      recent.terminated(worker.worker_id, context.now());
    if (asked[at] && worker.provider_data.contains("deployment"))
      leftovers.suspect(group_for(worker, settings));
  }
  return termination;
}

}  // namespace muster::azure
