#include "host/wiring/taskcluster_api_parts.hpp"

#include "host/wiring/known_providers.hpp"

namespace muster {

taskcluster_api::Parts taskcluster_api_parts(const TaskclusterApiDependencies& host) {
  taskcluster_api::Parts parts;
  if (FleetRuntime* fleet = host.fleet.fleet) {
    parts.fleet = &fleet->fleet();
    parts.store = &fleet->store();
    parts.runs = &fleet->runs();
    parts.provider_context = [fleet] { return fleet->provider_context(); };
    parts.expand = [fleet](const ProviderId& id, const ExpandRequest& request) {
      return fleet->expand(id, request);
    };
  }
  parts.problem = host.fleet.problem;
  parts.authority = &host.authority;
  parts.registrar = &host.registrar;
  parts.workers = &host.workers;
  parts.clock = std::make_shared<SystemClock>();
  parts.log = host.log;
  parts.root_url = host.url;
  parts.version = MUSTER_VERSION;
  const auto known = std::make_shared<KnownProviders>(host.status, host.plugins);
  parts.providers = [known] { return known->get(); };
  return parts;
}

}  // namespace muster
