// From the host's configuration to the plugin catalog's words.
#pragma once

#include <memory>
#include <vector>

#include "host/config/read_configuration.hpp"
#include "host/plugin_loader/plugin_catalog.hpp"

namespace muster {

// The first of the default folders came with the host.
std::vector<plugin_loader::PluginFolder> plugin_folders(
    const config::HostConfiguration& configuration, const config::Defaults& defaults);

std::vector<plugin_loader::InstanceSpec> instance_specs(
    const config::HostConfiguration& configuration);

// muster-cell, beside this program.
std::filesystem::path cell_program();

// {"providers": [{"id", "plugin", "state"}], "strategies": [...]}: the configured instances and how
// they are.
json::object plugin_summary(const config::HostConfiguration& configuration,
                            const plugin_loader::PluginList& plugins);

}  // namespace muster
