// What the worker-manager API needs, as this host has it.
#pragma once

#include "host/auth/authority.hpp"
#include "host/plugin_loader/plugin_catalog.hpp"
#include "host/taskcluster_api/parts.hpp"
#include "host/wiring/api_services.hpp"

namespace muster {

// Everything is borrowed and outlives the server.
struct TaskclusterApiDependencies {
  const PublishedStatus& status;
  const plugin_loader::PluginCatalog& plugins;
  const auth::Authority& authority;
  registration::Registrar& registrar;
  http::WorkerThreads& workers;
  FleetAccess fleet;
  std::string url;
  Log log = {};
};

taskcluster_api::Parts taskcluster_api_parts(const TaskclusterApiDependencies& host);

}  // namespace muster
