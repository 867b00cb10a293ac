#include "host/taskcluster_api/endpoints.hpp"

#include <algorithm>
#include <stdexcept>

namespace muster::taskcluster_api {
namespace {

const QueryKey token{"continuationToken", &anything_pattern};
const QueryKey limit{"limit", &number_pattern};
const QueryKey of_launch_config{"launchConfigId", &launch_config_id_pattern};

constexpr std::string_view get_pool = "worker-manager:get-worker-pool:<workerPoolId>";
constexpr std::string_view manage_pool = "worker-manager:manage-worker-pool:<workerPoolId>";
constexpr std::string_view use_provider = "worker-manager:provider:<providerId>";
constexpr std::string_view one_worker = "/workers/<workerPoolId>/<workerGroup>/<workerId>";

const std::vector<Endpoint>& table() {
  static const std::vector<Endpoint> entries{
      {.name = "ping",
       .method = "GET",
       .route = "/ping",
       .category = "Monitoring",
       .title = "Ping",
       .description = "Answers and does nothing else."},
      {.name = "lbheartbeat",
       .method = "GET",
       .route = "/__lbheartbeat__",
       .category = "Monitoring",
       .title = "Heartbeat for load balancers",
       .description = "Answers and does nothing else."},
      {.name = "version",
       .method = "GET",
       .route = "/__version__",
       .category = "Monitoring",
       .title = "Version",
       .description = "Which version of muster answers."},
      {.name = "listProviders",
       .method = "GET",
       .route = "/providers",
       .scopes = {"worker-manager:list-providers"},
       .query = {{"continuationToken", &number_pattern}, limit},
       .output = "provider-list",
       .category = "Providers",
       .title = "List providers",
       .description = "The providers that worker pools may use."},
      {.name = "pauseLaunchConfig",
       .method = "POST",
       .route = "/worker-pool/<*workerPoolId>/launch-configs/<launchConfigId>/pause",
       .scopes = {"worker-manager:pause-launch-config:<workerPoolId>/<launchConfigId>"},
       .input = "pause-launch-config-request",
       .output = "worker-pool-launch-config",
       .category = "Worker Pool Launch Configs",
       .stable = false,
       .title = "Pause a launch configuration",
       .description = "Launches nothing from it until the given time. Its workers go on."},
      {.name = "resumeLaunchConfig",
       .method = "POST",
       .route = "/worker-pool/<*workerPoolId>/launch-configs/<launchConfigId>/resume",
       .scopes = {"worker-manager:resume-launch-config:<workerPoolId>/<launchConfigId>"},
       .output = "worker-pool-launch-config",
       .category = "Worker Pool Launch Configs",
       .stable = false,
       .title = "Resume a launch configuration",
       .description = "Ends a pause before its time."},
      {.name = "createWorkerPool",
       .method = "PUT",
       .route = "/worker-pool/<*workerPoolId>",
       .scopes = {manage_pool, use_provider},
       .input = "create-worker-pool-request",
       .output = "worker-pool-full",
       .category = "Worker Pools",
       .title = "Make a worker pool",
       .description =
           "Makes a worker pool. The same request again changes nothing; another one for "
           "a pool that is there is refused."},
      {.name = "updateWorkerPool",
       .method = "POST",
       .route = "/worker-pool/<*workerPoolId>",
       .scopes = {manage_pool, use_provider},
       .input = "update-worker-pool-request",
       .output = "worker-pool-full",
       .category = "Worker Pools",
       .stable = false,
       .title = "Change a worker pool",
       .description = "Replaces the definition of a worker pool. What `workerPool` answers can be "
                      "sent back as it is."},
      {.name = "deleteWorkerPool",
       .method = "DELETE",
       .route = "/worker-pool/<*workerPoolId>",
       .scopes = {manage_pool},
       .output = "worker-pool-full",
       .category = "Worker Pools",
       .title = "Delete a worker pool",
       .description =
           "Gives the pool to the provider `null-provider`, which launches nothing. It is "
           "forgotten when its workers are gone."},
      {.name = "getLaunchConfig",
       .method = "GET",
       .route = "/worker-pool/<*workerPoolId>/launch-configs/<launchConfigId>",
       .scopes = {get_pool},
       .output = "worker-pool-launch-config",
       .category = "Worker Pool Launch Configs",
       .stable = false,
       .title = "Get a launch configuration",
       .description = "One launch configuration of a worker pool, archived or not."},
      {.name = "listWorkerPoolLaunchConfigs",
       .method = "GET",
       .route = "/worker-pool/<*workerPoolId>/launch-configs",
       .scopes = {get_pool},
       .query = {token, limit, {"includeArchived", &flag_pattern}},
       .output = "worker-pool-launch-config-list",
       .category = "Worker Pool Launch Configs",
       .stable = false,
       .title = "List launch configurations",
       .description = "The launch configurations of a worker pool; those that are archived only if "
                      "`includeArchived` is true."},
      {.name = "workerPoolStats",
       .method = "GET",
       .route = "/worker-pool/<*workerPoolId>/stats",
       .scopes = {get_pool},
       .output = "worker-pool-stats",
       .category = "Worker Pools",
       .stable = false,
       .title = "Count a worker pool",
       .description = "Workers and capacity of a pool, by state and launch configuration."},
      {.name = "workerPool",
       .method = "GET",
       .route = "/worker-pool/<*workerPoolId>",
       .scopes = {get_pool},
       .output = "worker-pool-full",
       .category = "Worker Pools",
       .title = "Get a worker pool",
       .description = "The definition of a worker pool, and what it has at the moment."},
      {.name = "listWorkerPools",
       .method = "GET",
       .route = "/worker-pools",
       .scopes = {"worker-manager:list-worker-pools"},
       .query = {token, limit},
       .output = "worker-pool-list",
       .category = "Worker Pools",
       .title = "List worker pools",
       .description = "All worker pools, by their names."},
      {.name = "listWorkerPoolsStats",
       .method = "GET",
       .route = "/worker-pools/stats",
       .scopes = {"worker-manager:list-worker-pools"},
       .query = {token, limit},
       .output = "worker-pool-list-stats",
       .category = "Worker Pools",
       .stable = false,
       .title = "Count all worker pools",
       .description = "Workers and capacity of all pools, by state."},
      {.name = "reportWorkerError",
       .method = "POST",
       .route = "/worker-pool-errors/<*workerPoolId>",
       .scopes = {"assume:worker-pool:<workerPoolId>", "assume:worker-id:<workerGroup>/<workerId>"},
       .input = "report-worker-error-request",
       .output = "worker-pool-error",
       .category = "Worker Interface",
       .title = "Report an error of a worker",
       .description = "For errors that the owner of the pool should see. Everybody who may list "
                      "errors sees them, so they must not hold secrets."},
      {.name = "workerPoolErrorStats",
       .method = "GET",
       .route = "/worker-pool-errors/stats",
       .scopes = {"worker-manager:list-worker-pool-errors:<workerPoolId>"},
       .query = {{"workerPoolId", &some_worker_pool_pattern}},
       .output = "worker-pool-error-stats",
       .category = "Worker Pools",
       .stable = false,
       .title = "Count errors",
       .description = "Errors of one pool, or of all, by day, hour, title, code, pool and launch "
                      "configuration."},
      {.name = "listWorkerPoolErrors",
       .method = "GET",
       .route = "/worker-pool-errors/<*workerPoolId>",
       .scopes = {"worker-manager:list-worker-pool-errors:<workerPoolId>"},
       .query = {token, limit, of_launch_config, {"errorId", &error_id_pattern}},
       .output = "worker-pool-error-list",
       .category = "Worker Pools",
       .title = "List errors",
       .description = "Errors of a worker pool, the newest first."},
      {.name = "listWorkersForWorkerGroup",
       .method = "GET",
       .route = "/workers/<workerPoolId>/<workerGroup>",
       .scopes = {"worker-manager:list-workers:<workerPoolId>/<workerGroup>"},
       .query = {token, limit},
       .output = "worker-list",
       .category = "Workers",
       .title = "List workers of a group",
       .description = "Workers of a pool that are in one group, the newest first.",
       .colon_alias = true},
      {.name = "worker",
       .method = "GET",
       .route = one_worker,
       .scopes = {"worker-manager:get-worker:<workerPoolId>/<workerGroup>/<workerId>"},
       .output = "worker-full",
       .category = "Workers",
       .title = "Get a worker",
       .description = "One worker.",
       .colon_alias = true},
      {.name = "createWorker",
       .method = "PUT",
       .route = one_worker,
       .scopes = {"worker-manager:create-worker:<workerPoolId>/<workerGroup>/<workerId>"},
       .input = "create-worker-request",
       .output = "worker-full",
       .category = "Workers",
       .title = "Announce a worker",
       .description =
           "For providers that launch nothing by themselves: says that a machine is there "
           "and how it will prove who it is. The same request again changes nothing.",
       .payload = Payload::secret_masked,
       .colon_alias = true},
      {.name = "updateWorker",
       .method = "POST",
       .route = one_worker,
       .scopes = {"worker-manager:update-worker:<workerPoolId>/<workerGroup>/<workerId>"},
       .input = "create-worker-request",
       .output = "worker-full",
       .category = "Workers",
       .title = "Change an announced worker",
       .description = "Changes what `createWorker` said.",
       .payload = Payload::secret_masked,
       .colon_alias = true},
      {.name = "removeWorker",
       .method = "DELETE",
       .route = one_worker,
       .scopes = {"worker-manager:remove-worker:<workerPoolId>/<workerGroup>/<workerId>"},
       .category = "Workers",
       .title = "Remove a worker",
       .description = "Ends a worker. It stays visible as stopping, then as stopped."},
      {.name = "shouldWorkerTerminate",
       .method = "GET",
       .route = "/workers/<workerPoolId>/<workerGroup>/<workerId>/should-terminate",
       .scopes = {"worker-manager:should-worker-terminate:<workerPoolId>/<workerGroup>/<workerId>"},
       .output = "should-worker-terminate-response",
       .category = "Workers",
       .stable = false,
       .title = "Ask whether a worker should end",
       .description =
           "For a worker that has nothing to do. Answered from the state of this moment."},
      {.name = "listWorkersForWorkerPool",
       .method = "GET",
       .route = "/workers/<*workerPoolId>",
       .scopes = {"worker-manager:list-workers:<workerPoolId>"},
       .query = {token, limit, of_launch_config, {"state", &worker_state_pattern}},
       .output = "worker-list",
       .category = "Workers",
       .title = "List workers of a pool",
       .description = "Workers of a pool, the newest first; those that have stopped lately, too."},
      {.name = "registerWorker",
       .method = "POST",
       .route = "/worker/register",
       .input = "register-worker-request",
       .output = "register-worker-response",
       .category = "Worker Interface",
       .title = "Register a worker",
       .description = "A worker that has started proves who it is, and gets its credentials.",
       .payload = Payload::omitted},
      {.name = "reregisterWorker",
       .method = "POST",
       .route = "/worker/reregister",
       .scopes = {"worker-manager:reregister-worker:<workerPoolId>/<workerGroup>/<workerId>"},
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
       .route = "/provisioners/<provisionerId>/worker-types/<workerType>/workers",
       .scopes = {"worker-manager:list-workers:<provisionerId>/<workerType>"},
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
       .route = "/provisioners/<provisionerId>/worker-types/<workerType>/workers/"
                "<workerGroup>/<workerId>",
       .scopes =
           {"worker-manager:get-worker:<provisionerId>/<workerType>/<workerGroup>/<workerId>"},
       .output = "worker-response",
       .category = "Worker Metadata",
       .stable = false,
       .title = "Get a worker of a worker type",
       .description = "One worker as a queue sees it."},
      {.name = "heartbeat",
       .method = "GET",
       .route = "/__heartbeat__",
       .category = "Monitoring",
       .title = "Heartbeat",
       .description = "Answers as long as the host can change anything; fails if its store does."},
  };
  return entries;
}

// Calls `each` with every <name> of the text.
template <class Each>
void for_each_name(std::string_view text, Each each) {
  for (auto open = text.find('<'); open != std::string_view::npos; open = text.find('<', open + 1))
    each(text.substr(open + 1, text.find('>', open) - open - 1));
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

std::vector<std::string> parameters_of(const Endpoint& endpoint) {
  std::vector<std::string> names;
  for_each_name(endpoint.route, [&](std::string_view name) {
    names.emplace_back(name.substr(name.starts_with('*') ? 1 : 0));
  });
  return names;
}

bool Endpoint::authorizes_itself() const {
  const std::vector<std::string> known = parameters_of(*this);
  bool unknown = false;
  for (const std::string_view scope : scopes)
    for_each_name(scope, [&](std::string_view wanted) {
      unknown |= std::ranges::find(known, wanted) == known.end();
    });
  return unknown;
}

const Pattern* pattern_of_parameter(std::string_view name) {
  if (name == "workerPoolId") return &worker_pool_id_pattern;
  if (name == "workerGroup" || name == "workerId") return &name_pattern;
  if (name == "launchConfigId") return &launch_config_id_pattern;
  return nullptr;
}

std::string router_pattern(const Endpoint& endpoint) {
  std::string pattern(base_path);
  for (const char c : endpoint.route) pattern += c == '<' ? '{' : c == '>' ? '}' : c;
  return pattern;
}

std::string public_route(const Endpoint& endpoint) {
  std::string route(endpoint.route);
  std::erase(route, '*');
  return route;
}

}  // namespace muster::taskcluster_api
