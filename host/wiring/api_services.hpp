// What muster's own API needs, as this host has it.
#pragma once

#include "host/api/services.hpp"
#include "host/history/history.hpp"
#include "host/wiring/fleet_runtime.hpp"
#include "host/wiring/host_auth.hpp"
#include "host/wiring/host_status.hpp"
#include "host/worker_logs/log_store.hpp"
#include "lib/metrics/metrics.hpp"

namespace muster {

// The fleet, or why there is none: a store that cannot be used stops the deciding, not the host.
struct FleetAccess {
  FleetRuntime* fleet = nullptr;  // borrowed; outlives the server
  std::string problem = {};
};

// Everything is borrowed and outlives the server.
struct ApiDependencies {
  const PublishedStatus& status;
  plugin_loader::PluginCatalog& plugins;
  HostAuth& auth;
  registration::Registrar& registrar;
  http::WorkerThreads& workers;
  const metrics::Metrics& metrics;
  FleetAccess fleet;
  Log log = {};
  std::function<json::object()> notifications = {};  // for the status
  worker_logs::LogStore* worker_logs = nullptr;
  // See api::Services.
  std::function<std::string()> role = {};
  std::function<Result<json::array>()> hosts = {};
  std::function<void()> hand_over = {};
  const history::History* history = nullptr;
};

// After the clients were read from the store, or could not be.
api::Services api_services(const ApiDependencies& host);

}  // namespace muster
