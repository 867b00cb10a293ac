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
  failures_.clear();
  for (const auto& [key, instance] : now.instances) {
    using plugin_loader::PluginState;
    const bool runs =
        instance.state != PluginState::quarantined && instance.state != PluginState::rejected;
    if (runs && instance.description)
      running_[instance.instance_id] = {instance.version, instance.description};
    else if (!instance.reason.empty())
      failures_[instance.instance_id] = instance.reason;
  }
  report();
}

std::string ProviderReporter::why_down(const config::PluginInstance& provider) const {
  const auto failure = failures_.find(provider.id);
  return failure == failures_.end() ? "its plugin does not run; see: muster plugin list"
                                    : failure->second;
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
  std::map<std::string, std::string> down;
  for (const config::PluginInstance& provider : configuration_->providers)
    if (!up.contains(provider.id)) down[provider.id] = why_down(provider);
  for (const auto& [id, report] : reported_)
    if (!up.contains(id)) down.try_emplace(id, "it is no longer in the host's configuration");
  for (const auto& [id, why] : down) {
    const auto before = down_.find(id);
    if (before != down_.end() && before->second == why) continue;
    receivers_.down(ProviderId(id), why);
    changed = true;
  }
  down_ = std::move(down);
  reported_ = std::move(up);
  if (changed) receivers_.changed();
}

}  // namespace muster
