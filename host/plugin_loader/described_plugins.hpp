// What the plugins of some folders say of themselves, for those who check files without a host.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <muster/json.hpp>

#include "host/plugin_loader/cell_spawner.hpp"
#include "host/plugin_loader/manifest.hpp"
#include "host/plugin_loader/plugin_scan.hpp"

namespace muster::plugin_loader {

struct DescribedPlugin {
  Manifest manifest;
  std::filesystem::path library;
  json::object description;  // as describe() says it
};

struct DescribedPlugins {
  std::map<std::string, DescribedPlugin> plugins;  // by id: "provider/local"
  std::vector<std::string> problems;               // sentences about plugins that cannot be asked
};

// Asks each plugin: those of shipped folders in this process, others in processes of their own, as
// a host does before it loads one. Of two of the same id, that of the later folder counts. `kind`
// given: only those, "provider".
DescribedPlugins describe_plugins(const std::vector<PluginFolder>& folders, CellSpawner& spawner,
                                  const std::string& kind = {});

// The ids of all plugins in the folders; none of their code runs.
std::vector<std::string> plugin_ids(const std::vector<PluginFolder>& folders);

// Makes an instance with this configuration in a process of its own, and ends it again. The error
// is the plugin's.
Result<void> try_config(const DescribedPlugin& plugin, const json::object& config,
                        CellSpawner& spawner);

}  // namespace muster::plugin_loader
