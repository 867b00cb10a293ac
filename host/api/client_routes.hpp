// Clients by HTTP: who they are, who asks, and Taskcluster's questions about that.
#pragma once

#include <span>

#include "host/auth/guard.hpp"
#include "host/wiring/host_auth.hpp"
#include "lib/http/router.hpp"

namespace muster {

// The scopes that the routes of the host's own API want.
std::span<const auth::RouteScope> route_scopes();

// `auth` outlives the router.
void add_client_routes(http::Router& router, http::WorkerThreads& workers, HostAuth& auth);

}  // namespace muster
