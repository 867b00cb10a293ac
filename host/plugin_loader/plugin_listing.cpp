// The part of the catalog that shows how its plugins are.
#include <algorithm>

#include "host/plugin_loader/plugin_catalog.hpp"

namespace muster::plugin_loader {
namespace {

// An instance that could not be started, and one that serves with the configuration from before.
void list_failed(const PluginRecord& plugin, std::vector<InstanceStatus>& instances) {
  for (const auto& [id, error] : plugin.failed) {
    const auto serving = std::ranges::find(instances, id, &InstanceStatus::instance_id);
    if (serving != instances.end())
      serving->reason =
          "its new configuration is refused, so the one before serves: " + error.message;
    else
      instances.push_back(
          {.instance_id = id, .state = PluginState::rejected, .reason = error.message});
  }
}

}  // namespace

std::optional<PluginCatalog::Running> PluginCatalog::running(const std::string& instance_id) const {
  const std::lock_guard lock(state_);
  for (const auto& [id, plugin] : plugins_) {
    if (!plugin->active) continue;
    for (const auto& [lane, serving] : plugin->instances)
      if (instance_of_lane(lane) == instance_id &&
          serving.instance->status().state != PluginState::quarantined)
        return Running{*plugin->active->described, plugin->active->label()};
  }
  return std::nullopt;
}

std::optional<std::string> PluginCatalog::failure_of(const std::string& instance_id) const {
  const std::lock_guard lock(state_);
  for (const auto& [id, plugin] : plugins_)
    for (const auto& [lane, error] : plugin->failed)
      if (instance_of_lane(lane) == instance_id) return error.message;
  return std::nullopt;
}

PluginList PluginCatalog::list() const {
  const std::lock_guard lock(state_);
  return list_now();
}

PluginList PluginCatalog::list_now() const {
  PluginList list;
  for (const auto& [id, plugin] : plugins_) {
    PluginStatus status{.plugin_id = id};
    for (const auto& [name, serving] : plugin->instances)
      status.instances.push_back(serving.instance->status());
    const auto worst =
        std::max_element(status.instances.begin(), status.instances.end(),
                         [](const auto& a, const auto& b) { return a.state < b.state; });
    const auto worst_state = worst == status.instances.end() ? PluginState::active : worst->state;
    const std::string worst_reason = worst == status.instances.end() ? "" : worst->reason;
    list_failed(*plugin, status.instances);
    for (const auto& version : plugin->versions) {
      VersionStatus shown = version->status;
      if (shown.state == PluginState::draining && version->is_drained())
        shown.state = PluginState::retired;
      if (version == plugin->active && worst_state != PluginState::active) {
        shown.state = worst_state;
        shown.reason = worst_reason;
      }
      if (version == plugin->active) status.state = shown.state;
      status.versions.push_back(std::move(shown));
    }
    if (plugin->active) status.description = plugin->active->description;
    if (!plugin->active && !status.versions.empty()) status.state = status.versions.front().state;
    list.plugins.push_back(std::move(status));
  }
  for (const auto& [path, refused] : refused_files_)
    list.plugins.push_back(
        {.plugin_id = path.string(), .state = PluginState::rejected, .versions = {refused}});
  return list;
}

PluginSnapshot PluginCatalog::snapshot() const {
  const std::lock_guard lock(state_);
  PluginSnapshot snapshot;
  for (PluginStatus& plugin : list_now().plugins) {
    // After a rollback a version is listed twice; the newer entry, which comes first, counts.
    for (VersionStatus& version : plugin.versions)
      snapshot.versions.try_emplace({plugin.plugin_id, version.sha256},
                                    VersionState{plugin.plugin_id, version.version, version.sha256,
                                                 version.state, version.reason});
    const auto found = plugins_.find(plugin.plugin_id);
    const auto active = found == plugins_.end() ? nullptr : found->second->active;
    for (InstanceStatus& instance : plugin.instances)
      snapshot.instances[{plugin.plugin_id, instance.instance_id}] = {
          .plugin_id = plugin.plugin_id,
          .instance_id = std::string(instance_of_lane(instance.instance_id)),
          .lane_id = instance.instance_id,
          .state = instance.state,
          .reason = instance.reason,
          .version = active ? active->label() : "",
          .description = active ? active->described : nullptr};
  }
  return snapshot;
}

}  // namespace muster::plugin_loader
