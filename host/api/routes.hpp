// All paths that the host answers to, in one place. Handlers translate between HTTP and the host's
// own words; they decide nothing.
#pragma once

#include "host/api/fleet_api.hpp"
#include "host/plugin_loader/plugin_catalog.hpp"
#include "host/wiring/host_status.hpp"
#include "lib/base/clock.hpp"
#include "lib/http/router.hpp"
#include "lib/metrics/metrics.hpp"

namespace muster {

// What handlers may ask. Everything outlives the server.
struct RouteDependencies {
  const PublishedStatus& status;
  const Clock& clock;
  plugin_loader::PluginCatalog& plugins;
  http::WorkerThreads& workers;  // for what waits
  FleetAccess fleet = {};
};

// GET /metrics, for everybody or for those with a token.
void add_metrics_route(http::Router& router, http::WorkerThreads& workers,
                       const metrics::Metrics& metrics, bool guarded);

// `router` also answers which paths it has, so it must stay where it is.
void add_routes(http::Router& router, const RouteDependencies& asked);

}  // namespace muster
