// Which plugins lie in the plugin folders, by their manifests: enough for "did you mean", and no
// more. Whether they work is for the loader to say.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace muster::config {

// "provider/simulated", ..., sorted. Manifests (plugin.toml) are looked for in the folders and at
// most three levels below; what cannot be read is left out.
std::vector<std::string> installed_plugins(const std::vector<std::filesystem::path>& folders);

}  // namespace muster::config
