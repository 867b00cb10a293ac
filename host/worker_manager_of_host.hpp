// What the worker-manager API needs, as this host has it.
#pragma once

#include "host/api/fleet_api.hpp"
#include "host/auth/authority.hpp"
#include "host/host_status.hpp"
#include "host/plugin_loader/plugin_catalog.hpp"
#include "host/worker_manager/parts.hpp"

namespace muster {

// Everything is borrowed and outlives the server.
struct WorkerManagerOfHost {
  const PublishedStatus& status;
  const plugin_loader::PluginCatalog& plugins;
  const auth::Authority& authority;
  http::WorkerThreads& workers;
  FleetAccess fleet;
  std::string url;
  Log log = {};
};

worker_manager::Parts worker_manager_parts(const WorkerManagerOfHost& host);

}  // namespace muster
