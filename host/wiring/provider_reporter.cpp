#include "host/wiring/provider_reporter.hpp"

#include <muster/codec.hpp>

#include "host/wiring/fleet_settings.hpp"

namespace muster {

void ProviderReporter::configure(std::shared_ptr<const config::HostConfiguration> configuration) {
  const std::lock_guard lock(mutex_);
  configuration_ = std::move(configuration);
  report();
}

void ProviderReporter::plugins_changed(const plugin_loader::PluginSnapshot& now,
                                       const plugin_loader::PluginChanges& changes) {
  if (!changes.instances.empty() || !changes.removed_instances.empty()) plugins_are(now);
}

// One lane that serves is enough.
void ProviderReporter::plugins_are(const plugin_loader::PluginSnapshot& now) {
  const std::lock_guard lock(mutex_);
  running_.clear();
  for (const auto& [key, instance] : now.instances)
    if (instance.state != plugin_loader::PluginState::quarantined && instance.description)
      running_[instance.instance_id] = {instance.version, instance.description};
  report();
}

void ProviderReporter::report() {
  std::map<std::string, Reported> up;
  bool changed = false;
  for (const config::PluginInstance& provider : configuration_->providers) {
    const auto running = running_.find(provider.id);
    if (running == running_.end()) continue;
    const Reported report{running->second.version, provider.launch};
    const auto before = reported_.find(provider.id);
    if (before == reported_.end() || before->second != report) {
      const auto description =
          from_value<ProviderDescription>(json::value(*running->second.description));
      if (!description) continue;
      receivers_.up(provider_up(provider, *description));
      changed = true;
    }
    up[provider.id] = report;
  }
  for (const auto& [id, report] : reported_) {
    if (up.contains(id)) continue;
    receivers_.down(ProviderId(id), find_instance(configuration_->providers, id)
                                        ? "its plugin does not run; see: muster plugin list"
                                        : "it is no longer in the host's configuration");
    changed = true;
  }
  reported_ = std::move(up);
  if (changed) receivers_.changed();
}

}  // namespace muster
