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

json::object with_state(json::object details, PluginState state, const std::string& reason) {
  details["state"] = name_of(state);
  if (!reason.empty()) details["reason"] = reason;
  return details;
}

// "a.toml and 2 more files are held back; "
std::string held_sentence(const pools::Status& configuration) {
  std::string text;
  if (!configuration.problems.empty())
    text = count_of(configuration.problems.size(), "problem") + "; ";
  const std::size_t held = configuration.held_files.size();
  if (held == 0) return text;
  text += configuration.held_files.front().file;
  if (held > 1) text += " and " + count_of(held - 1, "other file");
  return text + (held > 1 ? " are held back; " : " is held back; ");
}

}  // namespace

void StatusEventSource::emit(const char* kind, std::string text, json::object details) const {
  events::Event event;
  event.kind = kind;
  event.text = std::move(text);
  event.details = std::move(details);
  emit_(std::move(event));
}

void StatusEventSource::plugins_changed(const plugin_loader::PluginSnapshot&,
                                        const plugin_loader::PluginChanges& changes) {
  for (const auto& change : changes.versions) observe(change);
  for (const auto& change : changes.instances) observe(change);
}

void StatusEventSource::observe(
    const plugin_loader::Change<plugin_loader::VersionState>& change) const {
  const plugin_loader::VersionState& version = change.now;
  const char* kind = event_kind(version.state);
  if (!kind) return;
  emit(kind,
       with_reason(version.plugin_id + " " + version.version + " is " + name_of(version.state),
                   version.reason),
       with_state({{"pluginId", version.plugin_id}, {"version", version.version}}, version.state,
                  version.reason));
}

// An instance that only goes on with another version is not worth an event: the version has one.
void StatusEventSource::observe(
    const plugin_loader::Change<plugin_loader::InstanceState>& change) const {
  const plugin_loader::InstanceState& instance = change.now;
  const char* kind = event_kind(instance.state);
  if (!kind || (change.before && change.before->state == instance.state &&
                change.before->reason == instance.reason))
    return;
  emit(kind,
       with_reason("instance " + instance.lane_id + " of " + instance.plugin_id + " is " +
                       name_of(instance.state),
                   instance.reason),
       with_state({{"pluginId", instance.plugin_id}, {"instanceId", instance.lane_id}},
                  instance.state, instance.reason));
}

void StatusEventSource::observe(const pools::Status& configuration) {
  if (configuration.revision != serving_ && !serving_.empty() && !configuration.revision.empty()) {
    const json::object about{{"source", configuration.source},
                             {"revision", configuration.revision}};
    emit("configuration-accepted",
         "worker configurations " + configuration.revision + ": " +
             count_of(configuration.pools, "pool") + ", " +
             count_of(configuration.launch_configs, "launch configuration"),
         about);
    emit(
        events::audit_kind,
        configuration.source + ": acceptWorkerConfigurations revision=" + configuration.revision,
        {{"action", "acceptWorkerConfigurations"}, {"by", configuration.source}, {"about", about}});
  }
  if (!configuration.revision.empty()) serving_ = configuration.revision;

  // One that only waits for its providers is not refused.
  const bool is_refused =
      (!configuration.refused_revision.empty() &&
       (!configuration.problems.empty() || !configuration.held_files.empty())) ||
      !configuration.source_error.empty();
  std::optional<Refusal> refusal;
  if (is_refused)
    refusal = {configuration.refused_revision, configuration.source_error, configuration.problems,
               configuration.held_files};
  if (refusal && refusal != refusal_)
    emit("configuration-refused",
         with_reason("worker configurations of " + configuration.source + " are refused",
                     configuration.source_error.empty()
                         ? held_sentence(configuration) + "see: muster status"
                         : configuration.source_error),
         {{"source", configuration.source},
          {"revision", configuration.refused_revision},
          {"heldFiles", to_json(configuration.held_files)}});
  refusal_ = std::move(refusal);
}

}  // namespace muster
