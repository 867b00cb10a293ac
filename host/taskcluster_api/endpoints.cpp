#include "host/taskcluster_api/endpoints.hpp"

#include <algorithm>
#include <stdexcept>

#include "host/identifiers/identifiers.hpp"
#include "host/registration/registrar.hpp"
#include "host/taskcluster_api/handlers.hpp"
#include "host/taskcluster_api/pattern.hpp"

namespace muster::taskcluster_api {
namespace {

using endpoints::all_of;
using endpoints::open_to_all;
using endpoints::Payload;
using endpoints::QueryParameter;
using endpoints::use_provider;

const QueryParameter token{"continuationToken", &anything_pattern};
const QueryParameter limit{"limit", &number_pattern};
const QueryParameter of_launch_config{"launchConfigId", &identifiers::launch_config_id};

constexpr std::string_view get_pool = "worker-manager:get-worker-pool:<workerPoolId>";
constexpr std::string_view manage_pool = "worker-manager:manage-worker-pool:<workerPoolId>";
const std::string base(base_path);
const std::string one_worker = base + "/workers/{workerPoolId}/{workerGroup}/{workerId}";

const std::vector<Endpoint>& table() {
  static const std::vector<Endpoint> entries{
      {.name = "ping",
       .method = "GET",
       .path = base + "/ping",
       .scopes = open_to_all("monitoring has no credentials"),
       .handler = ping,
       .category = "Monitoring",
       .title = "Ping",
       .description = "Answers and does nothing else."},
      {.name = "lbheartbeat",
       .method = "GET",
       .path = base + "/__lbheartbeat__",
       .scopes = open_to_all("load balancers have no credentials"),
       .handler = answer_load_balancer,
       .category = "Monitoring",
       .title = "Heartbeat for load balancers",
       .description = "Answers and does nothing else."},
      {.name = "version",
       .method = "GET",
       .path = base + "/__version__",
       .scopes = open_to_all("monitoring has no credentials"),
       .handler = version,
       .category = "Monitoring",
       .title = "Version",
       .description = "Which version of muster answers."},
      {.name = "listProviders",
       .method = "GET",
       .path = base + "/providers",
       .scopes = all_of({"worker-manager:list-providers"}),
       .handler = list_providers,
       .query = {{"continuationToken", &number_pattern}, limit},
       .output = "provider-list",
       .category = "Providers",
       .title = "List providers",
       .description = "The providers that worker pools may use."},
      {.name = "pauseLaunchConfig",
       .method = "POST",
       .path = base + "/worker-pool/{*workerPoolId}/launch-configs/{launchConfigId}/pause",
       .scopes = all_of({"worker-manager:pause-launch-config:<workerPoolId>/<launchConfigId>"}),
       .handler = pause_launch_config,
       .input = "pause-launch-config-request",
       .output = "worker-pool-launch-config",
       .category = "Worker Pool Launch Configs",
       .stable = false,
       .title = "Pause a launch configuration",
       .description = "Launches nothing from it until the given time. Its workers go on."},
      {.name = "resumeLaunchConfig",
       .method = "POST",
       .path = base + "/worker-pool/{*workerPoolId}/launch-configs/{launchConfigId}/resume",
       .scopes = all_of({"worker-manager:resume-launch-config:<workerPoolId>/<launchConfigId>"}),
       .handler = resume_launch_config,
       .output = "worker-pool-launch-config",
       .category = "Worker Pool Launch Configs",
       .stable = false,
       .title = "Resume a launch configuration",
       .description = "Ends a pause before its time."},
      {.name = "createWorkerPool",
       .method = "PUT",
       .path = base + "/worker-pool/{*workerPoolId}",
       .scopes = all_of({manage_pool, use_provider}),
       .handler = create_worker_pool,
       .input = "create-worker-pool-request",
       .output = "worker-pool-full",
       .category = "Worker Pools",
       .title = "Make a worker pool",
       .description =
           "Makes a worker pool. The same request again changes nothing; another one for "
           "a pool that is there is refused."},
      {.name = "updateWorkerPool",
       .method = "POST",
       .path = base + "/worker-pool/{*workerPoolId}",
       .scopes = all_of({manage_pool, use_provider}),
       .handler = update_worker_pool,
       .input = "update-worker-pool-request",
       .output = "worker-pool-full",
       .category = "Worker Pools",
       .stable = false,
       .title = "Change a worker pool",
       .description = "Replaces the definition of a worker pool. What `workerPool` answers can be "
                      "sent back as it is."},
      {.name = "deleteWorkerPool",
       .method = "DELETE",
       .path = base + "/worker-pool/{*workerPoolId}",
       .scopes = all_of({manage_pool}),
       .handler = delete_worker_pool,
       .output = "worker-pool-full",
       .category = "Worker Pools",
       .title = "Delete a worker pool",
       .description =
           "Gives the pool to the provider `null-provider`, which launches nothing. It is "
           "forgotten when its workers are gone."},
      {.name = "getLaunchConfig",
       .method = "GET",
       .path = base + "/worker-pool/{*workerPoolId}/launch-configs/{launchConfigId}",
       .scopes = all_of({get_pool}),
       .handler = get_launch_config,
       .output = "worker-pool-launch-config",
       .category = "Worker Pool Launch Configs",
       .stable = false,
       .title = "Get a launch configuration",
       .description = "One launch configuration of a worker pool, archived or not."},
      {.name = "listWorkerPoolLaunchConfigs",
       .method = "GET",
       .path = base + "/worker-pool/{*workerPoolId}/launch-configs",
       .scopes = all_of({get_pool}),
       .handler = list_worker_pool_launch_configs,
       .query = {token, limit, {"includeArchived", &flag_pattern}},
       .output = "worker-pool-launch-config-list",
       .category = "Worker Pool Launch Configs",
       .stable = false,
       .title = "List launch configurations",
       .description = "The launch configurations of a worker pool; those that are archived only if "
                      "`includeArchived` is true."},
      {.name = "workerPoolStats",
       .method = "GET",
       .path = base + "/worker-pool/{*workerPoolId}/stats",
       .scopes = all_of({get_pool}),
       .handler = worker_pool_stats,
       .output = "worker-pool-stats",
       .category = "Worker Pools",
       .stable = false,
       .title = "Count a worker pool",
       .description = "Workers and capacity of a pool, by state and launch configuration."},
      {.name = "workerPool",
       .method = "GET",
       .path = base + "/worker-pool/{*workerPoolId}",
       .scopes = all_of({get_pool}),
       .handler = worker_pool,
       .output = "worker-pool-full",
       .category = "Worker Pools",
       .title = "Get a worker pool",
       .description = "The definition of a worker pool, and what it has at the moment."},
      {.name = "listWorkerPools",
       .method = "GET",
       .path = base + "/worker-pools",
       .scopes = all_of({"worker-manager:list-worker-pools"}),
       .handler = list_worker_pools,
       .query = {token, limit},
       .output = "worker-pool-list",
       .category = "Worker Pools",
       .title = "List worker pools",
       .description = "All worker pools, by their names."},
      {.name = "listWorkerPoolsStats",
       .method = "GET",
       .path = base + "/worker-pools/stats",
       .scopes = all_of({"worker-manager:list-worker-pools"}),
       .handler = list_worker_pools_stats,
       .query = {token, limit},
       .output = "worker-pool-list-stats",
       .category = "Worker Pools",
       .stable = false,
       .title = "Count all worker pools",
       .description = "Workers and capacity of all pools, by state."},
      {.name = "reportWorkerError",
       .method = "POST",
       .path = base + "/worker-pool-errors/{*workerPoolId}",
       .scopes = all_of(
           {"assume:worker-pool:<workerPoolId>", "assume:worker-id:<workerGroup>/<workerId>"}),
       .handler = report_worker_error,
       .input = "report-worker-error-request",
       .output = "worker-pool-error",
       .category = "Worker Interface",
       .title = "Report an error of a worker",
       .description = "For errors that the owner of the pool should see. Everybody who may list "
                      "errors sees them, so they must not hold secrets. `extra` has at most 16 KiB "
                      "as JSON. A worker may report 20 errors at once and then one a minute; of a "
                      "worker the newest 100 are kept, of a pool the newest 1000."},
      {.name = "workerPoolErrorStats",
       .method = "GET",
       .path = base + "/worker-pool-errors/stats",
       .scopes = all_of({"worker-manager:list-worker-pool-errors:<workerPoolId>"}),
       .handler = worker_pool_error_stats,
       .query = {{"workerPoolId", &some_worker_pool_pattern}},
       .output = "worker-pool-error-stats",
       .category = "Worker Pools",
       .stable = false,
       .title = "Count errors",
       .description = "Errors of one pool, or of all, by day, hour, title, code, pool and launch "
                      "configuration."},
      {.name = "listWorkerPoolErrors",
       .method = "GET",
       .path = base + "/worker-pool-errors/{*workerPoolId}",
       .scopes = all_of({"worker-manager:list-worker-pool-errors:<workerPoolId>"}),
       .handler = list_worker_pool_errors,
       .query = {token, limit, of_launch_config, {"errorId", &error_id_pattern}},
       .output = "worker-pool-error-list",
       .category = "Worker Pools",
       .title = "List errors",
       .description = "Errors of a worker pool, the newest first."},
      {.name = "listWorkersForWorkerGroup",
       .method = "GET",
       .path = base + "/workers/{workerPoolId}/{workerGroup}",
       .scopes = all_of({"worker-manager:list-workers:<workerPoolId>/<workerGroup>"}),
       .handler = list_workers_for_worker_group,
       .query = {token, limit},
       .output = "worker-list",
       .category = "Workers",
       .title = "List workers of a group",
       .description = "Workers of a pool that are in one group, the newest first.",
       .colon_alias = true},
      {.name = "worker",
       .method = "GET",
       .path = one_worker,
       .scopes = all_of({"worker-manager:get-worker:<workerPoolId>/<workerGroup>/<workerId>"}),
       .handler = worker,
       .output = "worker-full",
       .category = "Workers",
       .title = "Get a worker",
       .description = "One worker.",
       .colon_alias = true},
      {.name = "createWorker",
       .method = "PUT",
       .path = one_worker,
       .scopes = all_of({"worker-manager:create-worker:<workerPoolId>/<workerGroup>/<workerId>"}),
       .handler = create_worker,
       .input = "create-worker-request",
       .output = "worker-full",
       .category = "Workers",
       .title = "Declare a worker",
       .description =
           "For providers that launch nothing by themselves: says that a machine is there "
           "and how it will prove who it is. The same request again changes nothing.",
       .payload = Payload::secret_masked,
       .colon_alias = true},
      {.name = "updateWorker",
       .method = "POST",
       .path = one_worker,
       .scopes = all_of({"worker-manager:update-worker:<workerPoolId>/<workerGroup>/<workerId>"}),
       .handler = update_worker,
       .input = "create-worker-request",
       .output = "worker-full",
       .category = "Workers",
       .title = "Change a declared worker",
       .description = "Changes what `createWorker` said.",
       .payload = Payload::secret_masked,
       .colon_alias = true},
      {.name = "removeWorker",
       .method = "DELETE",
       .path = one_worker,
       .scopes = all_of({"worker-manager:remove-worker:<workerPoolId>/<workerGroup>/<workerId>"}),
       .handler = remove_worker,
       .category = "Workers",
       .title = "Remove a worker",
       .description = "Ends a worker. It stays visible as stopping, then as stopped."},
      {.name = "shouldWorkerTerminate",
       .method = "GET",
       .path = base + "/workers/{workerPoolId}/{workerGroup}/{workerId}/should-terminate",
       .scopes = all_of(
           {"worker-manager:should-worker-terminate:<workerPoolId>/<workerGroup>/<workerId>"}),
       .handler = should_worker_terminate,
       .output = "should-worker-terminate-response",
       .category = "Workers",
       .stable = false,
       .title = "Ask whether a worker should end",
       .description =
           "For a worker that has nothing to do. Answered from the state of this moment."},
      {.name = "listWorkersForWorkerPool",
       .method = "GET",
       .path = base + "/workers/{*workerPoolId}",
       .scopes = all_of({"worker-manager:list-workers:<workerPoolId>"}),
       .handler = list_workers_for_worker_pool,
       .query = {token, limit, of_launch_config, {"state", &worker_state_pattern}},
       .output = "worker-list",
       .category = "Workers",
       .title = "List workers of a pool",
       .description = "Workers of a pool, the newest first; those that have stopped lately, too."},
      {.name = "registerWorker",
       .method = "POST",
       .path = base + "/worker/register",
       .scopes =
           open_to_all("a worker that registers has no credentials yet; it proves its identity"),
       .handler = register_worker,
       .input = "register-worker-request",
       .output = "register-worker-response",
       .category = "Worker Interface",
       .title = "Register a worker",
       .description = "A worker that has started proves who it is, and gets its credentials.",
       .payload = Payload::omitted,
       .refuse_at_once = refuse_peer,
       .note_bad_request = note_malformed},
      {.name = "reregisterWorker",
       .method = "POST",
       .path = base + "/worker/reregister",
       .scopes =
           all_of({"worker-manager:reregister-worker:<workerPoolId>/<workerGroup>/<workerId>"}),
       .handler = reregister_worker,
       .input = "reregister-worker-request",
       .output = "reregister-worker-response",
       .category = "Worker Interface",
       .stable = false,
       .title = "Renew a worker's credentials",
       .description =
           "New credentials, a new secret and the newest configuration for a worker. One "
           "that is outdated is told so, with the status 410.",
       .payload = Payload::omitted},
      {.name = "listWorkers",
       .method = "GET",
       .path = base + "/provisioners/{provisionerId}/worker-types/{workerType}/workers",
       .scopes = all_of({"worker-manager:list-workers:<provisionerId>/<workerType>"}),
       .handler = list_workers,
       .query = {token,
                 limit,
                 of_launch_config,
                 {"quarantined", &flag_pattern},
                 {"workerState", &launched_state_pattern}},
       .output = "list-workers-response",
       .category = "Worker Metadata",
       .stable = false,
       .title = "List workers of a worker type",
       .description = "Workers as a queue sees them, the newest first."},
      {.name = "getWorker",
       .method = "GET",
       .path = base + "/provisioners/{provisionerId}/worker-types/{workerType}/workers/"
                      "{workerGroup}/{workerId}",
       .scopes = all_of(
           {"worker-manager:get-worker:<provisionerId>/<workerType>/<workerGroup>/<workerId>"}),
       .handler = get_worker,
       .output = "worker-response",
       .category = "Worker Metadata",
       .stable = false,
       .title = "Get a worker of a worker type",
       .description = "One worker as a queue sees it."},
      {.name = "heartbeat",
       .method = "GET",
       .path = base + "/__heartbeat__",
       .scopes = open_to_all("monitoring has no credentials"),
       .handler = heartbeat,
       .category = "Monitoring",
       .title = "Heartbeat",
       .description = "Answers as long as the host can change anything; fails if its store does."},
  };
  return entries;
}

}  // namespace

std::span<const Endpoint> endpoints() {
  return table();
}

const Endpoint& endpoint(std::string_view name) {
  const auto found = std::ranges::find(table(), name, &Endpoint::name);
  if (found == table().end()) throw std::logic_error("no endpoint " + std::string(name));
  return *found;
}

std::string public_route(const Endpoint& endpoint) {
  std::string route = endpoint.path.substr(base_path.size());
  std::erase(route, '*');
  std::ranges::replace(route, '{', '<');
  std::ranges::replace(route, '}', '>');
  return route;
}

}  // namespace muster::taskcluster_api
