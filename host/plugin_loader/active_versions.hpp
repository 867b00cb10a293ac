// Which version of each plugin serves, across restarts of the host.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <muster/error.hpp>
#include <muster/fields.hpp>

namespace muster::plugin_loader {

struct ActiveVersion {
  std::string active;    // sha256 of the library that serves
  std::string previous;  // what a rollback goes back to; empty: nothing
  std::string
      skipped;  // rolled back from: not taken up again although it lies in the plugin folder

  static constexpr auto fields(auto visit) {
    return visit(optional("active", &ActiveVersion::active),
                 optional("previous", &ActiveVersion::previous),
                 optional("skipped", &ActiveVersion::skipped));
  }
};

using ActiveVersions = std::map<std::string, ActiveVersion>;  // by plugin id

// In the file active.json of the store. One that is missing is empty; one that is damaged is an
// error that names it.
Result<ActiveVersions> load_active_versions(const std::filesystem::path& store);
Result<void> store_active_versions(const std::filesystem::path& store,
                                   const ActiveVersions& versions);

}  // namespace muster::plugin_loader
