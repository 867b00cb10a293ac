#include "host/wiring/taskcluster_api_parts.hpp"

#include <algorithm>
#include <mutex>

#include <muster/codec.hpp>

#include "lib/base/deadline_context.hpp"

namespace muster {
namespace {

using taskcluster_api::ProviderInfo;

bool announces(const json::object& description) {
  const json::value* list = description.if_contains("capabilities");
  return list && list->is_array() &&
         std::ranges::find(list->get_array(), json::value(capability::announced_workers)) !=
             list->get_array().end();
}

std::vector<ProviderInfo> providers_of(const TaskclusterApiDependencies& host) {
  std::vector<ProviderInfo> providers;
  for (const config::PluginInstance& instance : host.status.get()->configuration->providers) {
    const auto running = host.plugins.running(instance.id);
    // Of "provider/static" clients know the name: "static".
    providers.push_back({.id = ProviderId(instance.id),
                         .plugin = instance.plugin.substr(instance.plugin.find('/') + 1),
                         .running = running.has_value(),
                         .announced = running && announces(running->description)});
  }
  std::ranges::sort(providers, {}, &ProviderInfo::id);
  return providers;
}

// What a plugin says of itself is long, and registrations ask often: once in a while is enough.
class KnownProviders {
 public:
  explicit KnownProviders(const TaskclusterApiDependencies& host) : host_(host) {}

  std::vector<ProviderInfo> get() {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (asked_ == SteadyTime{} || now - asked_ > std::chrono::milliseconds(250)) {
      providers_ = providers_of(host_);
      asked_ = now;
    }
    return providers_;
  }

 private:
  const TaskclusterApiDependencies host_;
  std::mutex mutex_;
  SteadyTime asked_{};
  std::vector<ProviderInfo> providers_;
};

Result<Identity> identify(const TaskclusterApiDependencies& host, const ProviderId& id,
                          const IdentifyRequest& request) {
  const auto configuration = host.status.get()->configuration;
  const auto instance =
      std::ranges::find(configuration->providers, id.str(), &config::PluginInstance::id);
  const auto channel = host.plugins.channel(id.str());
  if (instance == configuration->providers.end() || !channel)
    return Error::transient("provider " + id.str() + " does not run");
  return ProviderClient(*channel).identify(request, DeadlineContext(instance->deadline));
}

}  // namespace

taskcluster_api::Parts taskcluster_api_parts(const TaskclusterApiDependencies& host) {
  taskcluster_api::Parts parts;
  if (FleetRuntime* fleet = host.fleet.fleet) {
    parts.fleet = &fleet->fleet();
    parts.store = &fleet->store();
    parts.provider_context = [fleet] { return fleet->provider_context(); };
    parts.expand = [fleet](const ProviderId& id, const ExpandRequest& request) {
      return fleet->expand(id, request);
    };
  }
  parts.problem = host.fleet.problem;
  parts.authority = &host.authority;
  parts.workers = &host.workers;
  parts.clock = std::make_shared<SystemClock>();
  parts.log = host.log;
  parts.root_url = host.url;
  parts.version = MUSTER_VERSION;
  const auto known = std::make_shared<KnownProviders>(host);
  parts.providers = [known] { return known->get(); };
  parts.identify = [host](const ProviderId& id, const IdentifyRequest& request) {
    return identify(host, id, request);
  };
  return parts;
}

}  // namespace muster
