#include "host/wiring/host_plugins.hpp"

#include <muster/enum_name.hpp>

namespace muster {
namespace {

plugin_loader::CellLimits limits_of(const config::PluginInstance& instance) {
  plugin_loader::CellLimits limits;
  if (instance.limits.memory)
    limits.memory_bytes = static_cast<std::int64_t>(*instance.limits.memory);
  if (instance.limits.open_files) limits.open_files = *instance.limits.open_files;
  if (instance.limits.cpu_time)
    limits.cpu_seconds = std::chrono::ceil<std::chrono::seconds>(*instance.limits.cpu_time).count();
  limits.user = instance.user.value_or("");
  limits.environment = instance.environment;
  return limits;
}

std::string state_of(const config::PluginInstance& instance,
                     const plugin_loader::PluginList& plugins) {
  for (const auto& plugin : plugins.plugins) {
    if (plugin.plugin_id != instance.plugin) continue;
    for (const auto& running : plugin.instances)
      if (running.instance_id == instance.id)
        return name_of(running.state) + (running.reason.empty() ? "" : ": " + running.reason);
    return plugin.versions.empty() ? "waits for its plugin" : plugin.versions.front().reason;
  }
  return "waits for its plugin";
}

}  // namespace

std::vector<plugin_loader::PluginFolder> plugin_folders(
    const config::HostConfiguration& configuration, const config::Defaults& defaults) {
  std::vector<plugin_loader::PluginFolder> folders;
  for (const auto& path : configuration.plugin_folders)
    folders.push_back(
        {path, !defaults.plugin_folders.empty() && path == defaults.plugin_folders.front()});
  return folders;
}

std::vector<plugin_loader::InstanceSpec> instance_specs(
    const config::HostConfiguration& configuration) {
  std::vector<plugin_loader::InstanceSpec> specs;
  for (const auto* instances : {&configuration.providers, &configuration.strategies})
    for (const config::PluginInstance& instance : *instances)
      specs.push_back({.instance_id = instance.id,
                       .plugin_id = instance.plugin,
                       .config = instance.config,
                       .isolation = instance.isolation,
                       .limits = limits_of(instance),
                       .deadline = instance.deadline,
                       .concurrency = instance.concurrency});
  return specs;
}

std::filesystem::path cell_program() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "muster-cell";
}

json::object plugin_summary(const config::HostConfiguration& configuration,
                            const plugin_loader::PluginList& plugins) {
  const auto summary = [&](const std::vector<config::PluginInstance>& instances) {
    json::array items;
    for (const config::PluginInstance& instance : instances)
      items.push_back(json::object{{"id", instance.id},
                                   {"plugin", instance.plugin},
                                   {"state", state_of(instance, plugins)}});
    return items;
  };
  return {{"providers", summary(configuration.providers)},
          {"strategies", summary(configuration.strategies)}};
}

}  // namespace muster
