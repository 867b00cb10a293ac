#include "host/wiring/registration_dependencies.hpp"

#include <algorithm>

#include <muster/codec.hpp>
#include <muster/trace.hpp>

#include "host/wiring/known_providers.hpp"
#include "lib/base/deadline_context.hpp"

namespace muster {
namespace {

using registration::ProviderState;

std::optional<ProviderState> find_provider(KnownProviders& known, const ProviderId& id) {
  const auto providers = known.get();
  const auto found = std::ranges::find(providers, id, &taskcluster_api::ProviderInfo::id);
  if (found == providers.end()) return std::nullopt;
  return ProviderState{.running = found->running, .declared_workers = found->declares};
}

Result<Identity> identify(const RegistrationParts& host, const ProviderId& id,
                          const IdentifyRequest& request, const std::string& trace_parent) {
  const auto configuration = host.status.get()->configuration;
  const auto instance =
      std::ranges::find(configuration->providers, id.str(), &config::PluginInstance::id);
  const auto channel = host.plugins.channel(id.str());
  if (instance == configuration->providers.end() || !channel)
    return Error::transient("provider " + id.str() + " does not run");
  const DeadlineContext deadline(instance->deadline);
  return ProviderClient(*channel).identify(request, TracedContext(deadline, trace_parent));
}

}  // namespace

registration::Dependencies registration_dependencies(const RegistrationParts& host) {
  const auto known = std::make_shared<KnownProviders>(host.status, host.plugins);
  return {
      .fleet = host.fleet.fleet ? &host.fleet.fleet->fleet() : nullptr,
      .problem = host.fleet.problem,
      .authority = &host.authority,
      .clock = std::make_shared<SystemClock>(),
      .log = host.log,
      .root_url = host.url,
      .find_provider = [known](const ProviderId& id) { return find_provider(*known, id); },
      .identify = [host](const ProviderId& id, const IdentifyRequest& request,
                         const std::string& trace) { return identify(host, id, request, trace); }};
}

}  // namespace muster
