// The host never maps the file that an operator dropped: overwriting a mapped library is a bus
// error, and glibc takes a new file under an old path for the old library. It maps its own copy,
// whose path contains the content's hash.
#pragma once

#include <filesystem>
#include <string>

#include <muster/error.hpp>

#include "host/plugin_loader/manifest.hpp"

namespace muster::plugin_loader {

struct StoredPlugin {
  std::filesystem::path library;  // absolute, <store>/<sha256>/<file>
  Manifest manifest;
};

// Reads the folder's manifest and library once, checks them, and copies both into the store. What
// is checked is what is copied: a file that is replaced meanwhile is seen either wholly old or
// wholly new. What others could replace is refused: a folder, manifest or library of another user
// than the host's or root, or that a group or everybody may write. Idempotent.
Result<StoredPlugin> store_plugin(const std::filesystem::path& folder,
                                  const std::filesystem::path& store);

// A plugin that was stored before; checked again, since a disk may have failed it.
Result<StoredPlugin> find_stored_plugin(const std::string& sha256,
                                        const std::filesystem::path& store);

}  // namespace muster::plugin_loader
