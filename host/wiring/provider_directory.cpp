#include "host/wiring/provider_directory.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "host/wiring/fleet_settings.hpp"
#include "lib/base/deadline_context.hpp"

namespace muster {

void ProviderDirectory::configure(std::shared_ptr<const config::HostConfiguration> configuration) {
  const std::lock_guard lock(mutex_);
  configuration_ = std::move(configuration);
}

std::shared_ptr<const config::HostConfiguration> ProviderDirectory::configuration() const {
  const std::lock_guard lock(mutex_);
  return configuration_;
}

fleet::Callee ProviderDirectory::find(const std::string& instance_id) const {
  const auto configuration = this->configuration();
  const config::PluginInstance* instance = find_instance(configuration->providers, instance_id);
  if (!instance) instance = find_instance(configuration->strategies, instance_id);
  if (!instance) return {};
  return {plugins_.channel(instance_id), instance->deadline, instance->concurrency};
}

pools::ProviderContext ProviderDirectory::context() const {
  const auto configuration = this->configuration();
  pools::ProviderContext context;
  for (const config::PluginInstance& strategy : configuration->strategies)
    context.strategies.push_back(strategy.id);
  if (configuration->fleet.default_strategy)
    context.default_strategy = *configuration->fleet.default_strategy;
  for (const config::PluginInstance& provider : configuration->providers)
    context.providers[ProviderId(provider.id)] = facts_of(provider, provider.deadline);
  return context;
}

pools::ProviderFacts ProviderDirectory::facts_of(const config::PluginInstance& provider,
                                                 std::chrono::milliseconds at_most) const {
  pools::ProviderFacts facts;
  const auto running = plugins_.running(provider.id);
  const auto channel = plugins_.channel(provider.id);
  if (!running || !channel) {
    const auto failure = plugins_.failure_of(provider.id);
    facts.unavailable =
        Error::transient("provider " + provider.id + " does not run: " +
                         failure.value_or("its plugin " + provider.plugin +
                                          " is not active, see: muster plugin list"));
    return facts;
  }
  auto description = from_value<ProviderDescription>(json::value(running->description));
  if (!description) {
    facts.unavailable = description.error();
    return facts;
  }
  ProviderClient client(*channel);
  const DeadlineContext context(std::min(provider.deadline, at_most));
  return pools::ask_provider(std::move(*description),
                             running->version + " " + json::write(provider.config), client,
                             context);
}

std::optional<pools::ProviderFacts> ProviderDirectory::facts(
    const ProviderId& id, std::chrono::milliseconds at_most) const {
  const auto configuration = this->configuration();
  const config::PluginInstance* provider = find_instance(configuration->providers, id.str());
  if (!provider) return std::nullopt;
  return facts_of(*provider, at_most);
}

Result<Expansion> ProviderDirectory::expand(const ProviderId& id,
                                            const ExpandRequest& request) const {
  const fleet::Callee callee = find(id.str());
  if (!callee.channel) return Error::transient("provider " + id.str() + " does not run");
  return ProviderClient(*callee.channel).expand(request, DeadlineContext(callee.deadline));
}

}  // namespace muster
