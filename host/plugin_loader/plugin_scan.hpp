// Finds what lies in the plugin folders.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace muster::plugin_loader {

struct PluginFolder {
  std::filesystem::path path;
  bool shipped = false;  // came with the host: its plugins run in process unless told otherwise
};

// A folder with a manifest, or a library that has none.
struct Dropped {
  std::filesystem::path folder;
  std::filesystem::path library_without_manifest =
      {};                      // then there is nothing to load, only something to say
  std::string signature = {};  // changes whenever the manifest or the library does
  bool shipped = false;
};

struct Scan {
  std::vector<Dropped>
      dropped;  // of later plugin folders first: the operator's win over shipped ones
  std::vector<std::filesystem::path> to_watch;  // every folder in which something could appear
};

// Looks at most three levels deep and follows no links to folders, so a loop of links ends. A
// plugin folder that does not exist is empty.
// `except` is left out: the host's own copies are no plugins that somebody dropped.
Scan scan(const std::vector<PluginFolder>& folders, const std::filesystem::path& except = {});

}  // namespace muster::plugin_loader
