// Who may do what through the host's own API, in one table. Whoever holds `muster:get:*` may read
// all of it but the clients; one pool's readers hold `muster:get:pool:<workerPoolId>`. A route that
// is missing here wants `muster:get` for reading and `muster:admin` for a change, so that it is
// closed.
#include <array>

#include "host/client_routes.hpp"

namespace muster {
namespace {

constexpr std::array scopes{
    auth::RouteScope{"GET", "/api/muster/v1/status", "muster:get:status"},
    auth::RouteScope{"GET", "/api/muster/v1/plugins", "muster:get:plugins"},
    auth::RouteScope{"POST", "/api/muster/v1/plugins/rescan", "muster:rescan-plugins"},
    auth::RouteScope{"POST", "/api/muster/v1/plugins/{pluginId}/rollback",
                     "muster:rollback-plugin:<pluginId>"},
    auth::RouteScope{"GET", "/api/muster/v1/pools", "muster:get:pools"},
    auth::RouteScope{"GET", "/api/muster/v1/pools/{workerPoolId}",
                     "muster:get:pool:<workerPoolId>"},
    auth::RouteScope{"PUT", "/api/muster/v1/pools/{workerPoolId}",
                     "muster:put-pool:<workerPoolId>"},
    auth::RouteScope{"DELETE", "/api/muster/v1/pools/{workerPoolId}",
                     "muster:remove-pool:<workerPoolId>"},
    auth::RouteScope{"GET", "/api/muster/v1/pools/{workerPoolId}/decisions",
                     "muster:get:pool:<workerPoolId>"},
    auth::RouteScope{"GET", "/api/muster/v1/pools/{workerPoolId}/errors",
                     "muster:get:pool:<workerPoolId>"},
    auth::RouteScope{"GET", "/api/muster/v1/pools/{workerPoolId}/launch-configs/{launchConfigId}",
                     "muster:get:pool:<workerPoolId>"},
    auth::RouteScope{"POST",
                     "/api/muster/v1/pools/{workerPoolId}/launch-configs/{launchConfigId}/pause",
                     "muster:pause-launch-config:<workerPoolId>"},
    auth::RouteScope{"POST",
                     "/api/muster/v1/pools/{workerPoolId}/launch-configs/{launchConfigId}/resume",
                     "muster:resume-launch-config:<workerPoolId>"},
    auth::RouteScope{"GET", "/api/muster/v1/pools/{workerPoolId}/workers",
                     "muster:get:pool:<workerPoolId>"},
    auth::RouteScope{"GET", "/api/muster/v1/pools/{workerPoolId}/workers/{workerGroup}/{workerId}",
                     "muster:get:pool:<workerPoolId>"},
    auth::RouteScope{"DELETE",
                     "/api/muster/v1/pools/{workerPoolId}/workers/{workerGroup}/{workerId}",
                     "muster:remove-worker:<workerPoolId>"},
    auth::RouteScope{
        "POST", "/api/muster/v1/pools/{workerPoolId}/workers/{workerGroup}/{workerId}/quarantine",
        "muster:quarantine-worker:<workerPoolId>"},
    // A worker's own credentials have these two.
    auth::RouteScope{
        "POST", "/api/muster/v1/pools/{workerPoolId}/workers/{workerGroup}/{workerId}/interruption",
        "worker-manager:remove-worker:<workerPoolId>/<workerGroup>/<workerId>"},
    auth::RouteScope{
        "POST", "/api/muster/v1/pools/{workerPoolId}/workers/{workerGroup}/{workerId}/activity",
        "worker-manager:should-worker-terminate:<workerPoolId>/<workerGroup>/<workerId>"},
    // Its handler wants `muster:relay:<providerId>`; the body names the provider.
    auth::RouteScope{"POST", "/api/muster/v1/relay-registrations", ""},
    auth::RouteScope{"GET", "/api/muster/v1/workers/{workerGroup}/{workerId}",
                     "muster:get:workers"},
    auth::RouteScope{"GET", "/api/muster/v1/launch-configs", "muster:get:launch-configs"},
    auth::RouteScope{"GET", "/api/muster/v1/errors", "muster:get:errors"},
    auth::RouteScope{"GET", "/api/muster/v1/errors/stats", "muster:get:errors"},
    auth::RouteScope{"GET", "/api/muster/v1/holds", "muster:get:holds"},
    auth::RouteScope{"DELETE", "/api/muster/v1/holds/{providerId}",
                     "muster:release-hold:<providerId>"},
    auth::RouteScope{"GET", "/api/muster/v1/providers", "muster:get:providers"},
    auth::RouteScope{"GET", "/api/muster/v1/providers/{providerId}", "muster:get:providers"},
    auth::RouteScope{"GET", "/api/muster/v1/worker-configurations",
                     "muster:get:worker-configurations"},
    auth::RouteScope{"POST", "/api/muster/v1/worker-configurations/reload",
                     "muster:reload-worker-configurations"},
    auth::RouteScope{"GET", "/api/muster/v1/worker-configurations/files",
                     "muster:get:worker-configurations"},
    auth::RouteScope{"GET", "/api/muster/v1/worker-configurations/files/{configurationId}",
                     "muster:get:worker-configurations"},
    auth::RouteScope{"GET", "/api/muster/v1/worker-configurations/evaluate",
                     "muster:get:worker-configurations"},
    auth::RouteScope{"GET", "/api/muster/v1/worker-configurations/explain",
                     "muster:get:worker-configurations"},
    auth::RouteScope{"GET", "/api/muster/v1/demand", "muster:get:demand"},
    auth::RouteScope{"GET", "/api/muster/v1/queue", "muster:get:queue"},
    auth::RouteScope{"GET", "/api/muster/v1/requests/{requestId}", "muster:get:requests"},
    auth::RouteScope{"GET", "/api/muster/v1/teams", "muster:get:teams"},
    auth::RouteScope{"PUT", "/api/muster/v1/teams/{team}", "muster:set-team:<team>"},
    // What a team may do with its own requests.
    auth::RouteScope{"GET", "/api/muster/v1/teams/{team}/requests", "muster:request-worker:<team>"},
    auth::RouteScope{"POST", "/api/muster/v1/teams/{team}/requests",
                     "muster:request-worker:<team>"},
    auth::RouteScope{"GET", "/api/muster/v1/teams/{team}/requests/{requestId}",
                     "muster:request-worker:<team>"},
    auth::RouteScope{"DELETE", "/api/muster/v1/teams/{team}/requests/{requestId}",
                     "muster:request-worker:<team>"},
    auth::RouteScope{"POST", "/api/muster/v1/teams/{team}/requests/{requestId}/heartbeat",
                     "muster:request-worker:<team>"},
    auth::RouteScope{"POST", "/api/muster/v1/teams/{team}/requests/{requestId}/extend",
                     "muster:request-worker:<team>"},
    auth::RouteScope{"GET", "/api/muster/v1/worker-pools", "muster:get:worker-pools"},
    auth::RouteScope{"PUT", "/api/muster/v1/worker-pools/{workerPoolId}",
                     "muster:manage-worker-pools:<workerPoolId>"},
    auth::RouteScope{"DELETE", "/api/muster/v1/worker-pools/{workerPoolId}",
                     "muster:manage-worker-pools:<workerPoolId>"},
    auth::RouteScope{"POST", "/api/muster/v1/worker-pools/{workerPoolId}/attach",
                     "muster:manage-worker-pools:<workerPoolId>"},
    auth::RouteScope{"POST", "/api/muster/v1/worker-pools/{workerPoolId}/detach",
                     "muster:manage-worker-pools:<workerPoolId>"},
    auth::RouteScope{"POST", "/api/muster/v1/backup", "muster:backup"},
    auth::RouteScope{"GET", "/api/muster/v1/events", "muster:get:events"},
    auth::RouteScope{"GET", "/api/muster/v1/amqp", "muster:get:events"},
    auth::RouteScope{"GET", "/api/muster/v1/webhooks", "muster:get:events"},
    auth::RouteScope{"GET", "/api/muster/v1/webhooks/{name}", "muster:get:events"},
    auth::RouteScope{"GET", "/api/muster/v1/webhooks/{name}/dead-letters", "muster:get:events"},
    auth::RouteScope{"POST", "/api/muster/v1/webhooks/{name}/dead-letters/{number}/retry",
                     "muster:manage-dead-letters:<name>"},
    auth::RouteScope{"DELETE", "/api/muster/v1/webhooks/{name}/dead-letters/{number}",
                     "muster:manage-dead-letters:<name>"},
    auth::RouteScope{"GET", "/api/muster/v1/whoami", ""},
    auth::RouteScope{"GET", "/api/muster/v1/clients", "muster:list-clients"},
    auth::RouteScope{"GET", "/api/muster/v1/clients/{*clientId}", "muster:list-clients"},
    auth::RouteScope{"PUT", "/api/muster/v1/clients/{*clientId}",
                     "muster:manage-clients:<clientId>"},
    auth::RouteScope{"POST", "/api/muster/v1/clients/{*clientId}",
                     "muster:manage-clients:<clientId>"},
    auth::RouteScope{"DELETE", "/api/muster/v1/clients/{*clientId}",
                     "muster:manage-clients:<clientId>"},
    auth::RouteScope{"POST", "/api/muster/v1/clients/{*clientId}/rotate",
                     "muster:manage-clients:<clientId>"},
    auth::RouteScope{"POST", "/api/muster/v1/clients/{*clientId}/disable",
                     "muster:manage-clients:<clientId>"},
    auth::RouteScope{"POST", "/api/muster/v1/clients/{*clientId}/enable",
                     "muster:manage-clients:<clientId>"},
    auth::RouteScope{"GET", "/metrics", "muster:get:metrics"},
};

}  // namespace

std::span<const auth::RouteScope> route_scopes() {
  return scopes;
}

}  // namespace muster
