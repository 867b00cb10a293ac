// Which path of the host's API each command is for. A test compares this with what a host serves.
#include "cli/reference/command_info.hpp"

namespace muster::cli {
namespace {

struct ApiCall {
  std::string_view operation, command;
};

constexpr ApiCall all_calls[] = {
    {"GET /", "muster api"},
    {"GET /openapi.json", "muster api"},
    {"GET /status", "muster status"},
    {"GET /whoami", "muster whoami"},
    {"POST /backup", "muster backup"},
    // pools, launch configurations, workers
    {"GET /pools", "muster pool list"},
    {"GET /pools/{workerPoolId}", "muster pool show"},
    {"PUT /pools/{workerPoolId}", "muster pool set"},
    {"DELETE /pools/{workerPoolId}", "muster pool delete"},
    {"GET /pools/{workerPoolId}/payload-schema", "muster pool payload-schema"},
    {"POST /pools/{workerPoolId}/validate-payload", "muster pool validate-payload"},
    {"POST /pools/{workerPoolId}/pause", "muster pool pause"},
    {"POST /pools/{workerPoolId}/resume", "muster pool resume"},
    {"GET /pools/{workerPoolId}/decisions", "muster log"},
    {"GET /pools/{workerPoolId}/errors", "muster error list"},
    {"GET /launch-configs", "muster launch-config list"},
    {"GET /pools/{workerPoolId}/launch-configs/{launchConfigId}", "muster launch-config show"},
    {"POST /pools/{workerPoolId}/launch-configs/{launchConfigId}/pause",
     "muster launch-config pause"},
    {"POST /pools/{workerPoolId}/launch-configs/{launchConfigId}/resume",
     "muster launch-config resume"},
    {"GET /workers", "muster worker list"},
    {"GET /pools/{workerPoolId}/workers", "muster status"},
    {"GET /workers/{workerGroup}/{workerId}", "muster worker show"},
    {"GET /pools/{workerPoolId}/workers/{workerGroup}/{workerId}", "muster worker show"},
    {"DELETE /pools/{workerPoolId}/workers/{workerGroup}/{workerId}", "muster worker terminate"},
    {"POST /pools/{workerPoolId}/workers/{workerGroup}/{workerId}/drain", "muster worker drain"},
    {"POST /pools/{workerPoolId}/workers/{workerGroup}/{workerId}/quarantine",
     "muster worker quarantine"},
    {"POST /pools/{workerPoolId}/workers/{workerGroup}/{workerId}/quarantine",
     "muster worker release"},
    {"GET /pools/{workerPoolId}/workers/{workerGroup}/{workerId}/log", "muster worker logs"},
    {"GET /errors", "muster error list"},
    {"GET /errors/stats", "muster error stats"},
    // providers, plugins, demand
    {"GET /providers", "muster provider list"},
    {"GET /providers/{providerId}", "muster provider show"},
    {"GET /providers/{providerId}/diagnosis", "muster provider doctor"},
    {"GET /runs", "muster runs"},
    {"GET /pools/{workerPoolId}/runs", "muster runs"},
    {"GET /pools/{workerPoolId}/workers/{workerGroup}/{workerId}/runs", "muster runs"},
    {"GET /pools/{workerPoolId}/launch-configs/{launchConfigId}/runs", "muster runs"},
    {"GET /run-source", "muster run-source"},
    {"GET /holds", "muster hold list"},
    {"DELETE /holds/{providerId}", "muster hold release"},
    {"GET /plugins", "muster plugin list"},
    {"GET /plugin-instances/{instanceId}", "muster plugin log"},
    {"POST /plugins/rescan", "muster plugin list"},
    {"POST /plugins/{pluginId}/rollback", "muster plugin rollback"},
    {"GET /demand", "muster demand show"},
    // worker configurations
    {"GET /worker-configurations", "muster config problems"},
    {"GET /worker-configurations/difference", "muster config changes"},
    {"POST /worker-configurations/reload", "muster config reload"},
    {"POST /worker-configurations/accept-empty", "muster config accept-empty"},
    {"GET /worker-configurations/files", "muster config show"},
    {"GET /worker-configurations/files/{configurationId}", "muster config show"},
    {"POST /worker-configurations/check", "muster check"},
    {"GET /worker-configurations/evaluate", "muster config evaluate"},
    {"GET /worker-configurations/explain", "muster config explain"},
    // documentation
    {"GET /documentation", "muster docs list"},
    {"PUT /pools/{workerPoolId}/documentation", "muster docs push"},
    {"GET /pools/{workerPoolId}/documentation", "muster docs pull"},
    {"DELETE /pools/{workerPoolId}/documentation", "muster docs delete"},
    {"GET /pools/{workerPoolId}/documentation/description", "muster docs list"},
    {"GET /pools/{workerPoolId}/documentation/files/{documentPath}", "muster docs show"},
    {"GET /pools/{workerPoolId}/documentation/markdown", "muster docs show"},
    {"GET /pools/{workerPoolId}/documentation/html", "muster docs show"},
    {"PUT /worker-configurations/files/{configurationId}/documentation", "muster docs push"},
    {"GET /worker-configurations/files/{configurationId}/documentation", "muster docs pull"},
    {"DELETE /worker-configurations/files/{configurationId}/documentation", "muster docs delete"},
    {"GET /worker-configurations/files/{configurationId}/documentation/description",
     "muster docs list"},
    {"GET /worker-configurations/files/{configurationId}/documentation/files/{documentPath}",
     "muster docs show"},
    {"GET /worker-configurations/files/{configurationId}/documentation/markdown",
     "muster docs show"},
    {"GET /worker-configurations/files/{configurationId}/documentation/html", "muster docs show"},
    // events
    {"GET /events", "muster event list"},
    {"GET /events", "muster event follow"},
    {"GET /amqp", "muster event broker"},
    {"GET /webhooks", "muster webhook list"},
    {"GET /webhooks/{name}", "muster webhook show"},
    {"GET /webhooks/{name}/dead-letters", "muster webhook dead-letters"},
    {"POST /webhooks/{name}/dead-letters/{number}/retry", "muster webhook retry"},
    {"DELETE /webhooks/{name}/dead-letters/{number}", "muster webhook discard"},
    // teams, requests
    {"GET /queue", "muster queue"},
    {"GET /why", "muster why"},
    {"GET /expectations", "muster eta"},
    {"GET /teams", "muster team list"},
    {"GET /teams", "muster team show"},
    {"PUT /teams/{team}", "muster team set"},
    {"GET /worker-pools", "muster pool dedicated"},
    {"PUT /worker-pools/{workerPoolId}", "muster pool dedicate"},
    {"DELETE /worker-pools/{workerPoolId}", "muster pool share"},
    {"POST /worker-pools/{workerPoolId}/attach", "muster pool attach"},
    {"POST /worker-pools/{workerPoolId}/detach", "muster pool detach"},
    {"GET /requests", "muster request list"},
    {"GET /teams/{team}/requests", "muster request list"},
    {"GET /requests/{requestId}", "muster request show"},
    {"POST /teams/{team}/requests", "muster lease"},
    {"GET /teams/{team}/requests/{requestId}", "muster lease"},
    {"POST /teams/{team}/requests/{requestId}/heartbeat", "muster lease"},
    {"DELETE /teams/{team}/requests/{requestId}", "muster request cancel"},
    {"POST /teams/{team}/requests/{requestId}/extend", "muster request extend"},
    // clients
    {"GET /roles", "muster client roles"},
    {"GET /clients", "muster client list"},
    {"GET /clients/{clientId}", "muster client show"},
    {"PUT /clients/{clientId}", "muster client create"},
    {"POST /clients/{clientId}", "muster client set"},
    {"DELETE /clients/{clientId}", "muster client revoke"},
    {"POST /clients/{clientId}/rotate", "muster client rotate"},
    {"POST /clients/{clientId}/disable", "muster client disable"},
    {"POST /clients/{clientId}/enable", "muster client enable"},
    // the store
    {"GET /set-aside", "muster set-aside list"},
    {"GET /set-aside/{number}", "muster set-aside show"},
    {"POST /set-aside/{number}/retry", "muster set-aside retry"},
    {"DELETE /set-aside/{number}", "muster set-aside discard"},
    // What the dashboard needs.
    {"GET /history", "muster api"},
    {"GET /pools/{workerPoolId}/history", "muster api"},
    {"GET /changes", "muster api"},
    {"POST /session", "muster api"},
    {"GET /session", "muster api"},
    {"DELETE /session", "muster api"},
    {"GET /hosts", "muster hosts"},
    {"POST /hosts/hand-over", "muster hosts hand-over"},
    // What workers and relays send themselves, with credentials of theirs.
    {"POST /registration-challenges", "muster api"},
    {"POST /relay-registrations", "muster api"},
    {"POST /pools/{workerPoolId}/workers/{workerGroup}/{workerId}/interruption", "muster api"},
    {"POST /pools/{workerPoolId}/workers/{workerGroup}/{workerId}/activity", "muster api"},
    {"POST /pools/{workerPoolId}/workers/{workerGroup}/{workerId}/log", "muster api"},
};

}  // namespace

std::vector<std::string_view> api_calls(std::string_view command_path) {
  std::vector<std::string_view> calls;
  for (const ApiCall& call : all_calls)
    if (call.command == command_path) calls.push_back(call.operation);
  return calls;
}

}  // namespace muster::cli
