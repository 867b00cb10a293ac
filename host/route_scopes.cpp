// Who may do what through the host's own API, in one table. Reading wants `muster:get` where
// nothing is written here; a change that is missing here wants `muster:admin`.
#include <array>

#include "host/client_routes.hpp"

namespace muster {
namespace {

constexpr std::array scopes{
    auth::RouteScope{"PUT", "/api/muster/v1/pools/{workerPoolId}",
                     "muster:put-pool:<workerPoolId>"},
    auth::RouteScope{"DELETE", "/api/muster/v1/pools/{workerPoolId}",
                     "muster:remove-pool:<workerPoolId>"},
    auth::RouteScope{"POST",
                     "/api/muster/v1/pools/{workerPoolId}/launch-configs/{launchConfigId}/pause",
                     "muster:pause-launch-config:<workerPoolId>"},
    auth::RouteScope{"POST",
                     "/api/muster/v1/pools/{workerPoolId}/launch-configs/{launchConfigId}/resume",
                     "muster:resume-launch-config:<workerPoolId>"},
    auth::RouteScope{"DELETE",
                     "/api/muster/v1/pools/{workerPoolId}/workers/{workerGroup}/{workerId}",
                     "muster:remove-worker:<workerPoolId>"},
    auth::RouteScope{
        "POST", "/api/muster/v1/pools/{workerPoolId}/workers/{workerGroup}/{workerId}/quarantine",
        "muster:quarantine-worker:<workerPoolId>"},
    auth::RouteScope{"POST", "/api/muster/v1/backup", "muster:backup"},
    auth::RouteScope{"POST", "/api/muster/v1/plugins/rescan", "muster:rescan-plugins"},
    auth::RouteScope{"POST", "/api/muster/v1/plugins/{pluginId}/rollback",
                     "muster:rollback-plugin:<pluginId>"},
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
};

}  // namespace

std::span<const auth::RouteScope> route_scopes() {
  return scopes;
}

}  // namespace muster
