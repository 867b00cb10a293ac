// plugin.toml: what a dropped plugin says of itself. It is written or renamed into place last, so
// its arrival means that the library beside it is complete.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <muster/error.hpp>

#include "lib/base/isolation.hpp"

namespace muster::plugin_loader {

struct Manifest {
  std::string name;     // [a-z0-9][a-z0-9_-]*
  std::string kind;     // "provider" or "strategy"
  std::string version;  // free text, shown to people
  std::string file;     // beside the manifest
  std::string sha256;   // of the file, 64 hex digits
  std::optional<Isolation> isolation = {};

  std::string id() const { return kind + "/" + name; }  // "provider/simulated"
};

inline constexpr const char* manifest_name = "plugin.toml";

// `invalid` with file:line:column for anything wrong in it; `not_found` if there is none.
Result<Manifest> read_manifest(const std::filesystem::path& file);

// The text of a manifest that read_manifest understands.
std::string write_manifest(const Manifest& manifest);

}  // namespace muster::plugin_loader
