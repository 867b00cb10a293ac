#include "host/wiring/status_event_source.hpp"

#include <muster/enum_name.hpp>
#include <muster/plural.hpp>

namespace muster {
namespace {

using plugin_loader::PluginState;

// Nothing for states that lead from one to another.
const char* event_kind(PluginState state) {
  switch (state) {
    case PluginState::active:
      return "plugin-activated";
    case PluginState::rejected:
      return "plugin-refused";
    case PluginState::stuck:
    case PluginState::quarantined:
    case PluginState::retired:
      return "plugin-stopped";
    case PluginState::checking:
    case PluginState::draining:
      break;
  }
  return nullptr;
}

std::string with_reason(std::string text, const std::string& reason) {
  return reason.empty() ? text : std::move(text) + ": " + reason;
}

}  // namespace

void StatusEventSource::tell(const char* kind, std::string text, json::object details) {
  events::Event event;
  event.kind = kind;
  event.text = std::move(text);
  event.details = std::move(details);
  tell_(std::move(event));
}

void StatusEventSource::look(const plugin_loader::PluginList& plugins) {
  std::map<std::string, std::string> now;
  const auto see = [&](const std::string& key, PluginState state, const std::string& subject,
                       const std::string& reason, json::object details) {
    const std::string name = name_of(state);
    now[key] = name + reason;
    const auto before = states_.find(key);
    const bool same = before != states_.end() && before->second == now[key];
    if (same || !plugins_known_ || !event_kind(state)) return;
    details["state"] = name;
    if (!reason.empty()) details["reason"] = reason;
    tell(event_kind(state), with_reason(subject + " is " + name, reason), std::move(details));
  };
  for (const plugin_loader::PluginStatus& plugin : plugins.plugins) {
    for (const plugin_loader::VersionStatus& version : plugin.versions)
      see(plugin.plugin_id + " " + version.sha256, version.state,
          plugin.plugin_id + " " + version.version, version.reason,
          {{"pluginId", plugin.plugin_id}, {"version", version.version}});
    for (const plugin_loader::InstanceStatus& instance : plugin.instances)
      see("instance " + instance.instance_id, instance.state,
          "instance " + instance.instance_id + " of " + plugin.plugin_id, instance.reason,
          {{"pluginId", plugin.plugin_id}, {"instanceId", instance.instance_id}});
  }
  states_ = std::move(now);
  plugins_known_ = true;
}

void StatusEventSource::look(const std::optional<pools::Status>& configuration) {
  if (!configuration) return;
  const bool changed = configuration->revision != serving_;
  if (changed && configuration_known_)
    tell("configuration-accepted",
         "worker configurations " + configuration->revision + ": " +
             count_of(configuration->pools, "pool") + ", " +
             count_of(configuration->launch_configs, "launch configuration"),
         {{"source", configuration->source}, {"revision", configuration->revision}});
  const std::string refused =
      configuration->refused_revision + configuration->source_error +
      (configuration->problems.empty() ? "" : std::to_string(configuration->problems.size()));
  // One that only waits for its providers is not refused.
  const bool is_refused =
      (!configuration->refused_revision.empty() && !configuration->problems.empty()) ||
      !configuration->source_error.empty();
  if (is_refused && refused != refused_)
    tell("configuration-refused",
         with_reason(
             "worker configurations of " + configuration->source + " are refused",
             configuration->source_error.empty()
                 ? count_of(configuration->problems.size(), "problem") + "; see: muster status"
                 : configuration->source_error),
         {{"source", configuration->source}, {"revision", configuration->refused_revision}});
  serving_ = configuration->revision;
  refused_ = is_refused ? refused : "";
  configuration_known_ |= !serving_.empty();
}

}  // namespace muster
