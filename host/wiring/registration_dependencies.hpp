// What registration needs, as this host has it.
#pragma once

#include "host/auth/authority.hpp"
#include "host/plugin_loader/plugin_catalog.hpp"
#include "host/registration/state.hpp"
#include "host/wiring/api_services.hpp"
#include "host/wiring/host_status.hpp"

namespace muster {

// Everything is borrowed and outlives the registrar.
struct RegistrationParts {
  const PublishedStatus& status;
  const plugin_loader::PluginCatalog& plugins;
  const auth::Authority& authority;
  FleetAccess fleet;
  std::string url;
  Log log = {};
};

registration::Dependencies registration_dependencies(const RegistrationParts& host);

}  // namespace muster
