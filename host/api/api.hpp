// Muster's own API (/api/muster/v1), the dashboard, health checks and metrics.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "host/api/services.hpp"
#include "host/auth/guard.hpp"

namespace muster::api {

// All of them, in the order in which routes are tried. THREADS: any.
std::span<const endpoints::Endpoint> endpoints();

// The scopes of the rows, for the router's guard.
std::span<const auth::RouteScope> route_scopes();

// A row of `endpoints()` that needs events is left out if there are none.
void add_routes(http::Router& router, Services services);

// The API around other rows, for tests.
std::shared_ptr<const endpoints::Api> make_api(Services services,
                                               std::span<const endpoints::Endpoint> rows);

}  // namespace muster::api
