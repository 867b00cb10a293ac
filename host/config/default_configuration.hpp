// What musterd runs on without --config.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "host/config/read_configuration.hpp"
#include "lib/process/run_as.hpp"

namespace muster::config {

using Environment = std::function<std::string(const char* name)>;  // empty: not set
std::string process_environment(const char* name);

// dataDirectory: $STATE_DIRECTORY (set by systemd), else $XDG_STATE_HOME/muster, else
// ~/.local/state/muster, else /var/lib/muster. Root's home lets nobody pass, and root's workers are
// another user: as root, ~/.local/state/muster only if a host has used it before. pluginFolders:
// the one that belongs to this program, and plugins.d in the data directory, into which operators
// drop their own.
Defaults defaults_for(const std::filesystem::path& executable, const Environment& environment,
                      bool as_root);

// The same with what the command line says, which is stronger than any file.
Defaults with_overrides(Defaults defaults,
                        const std::optional<std::filesystem::path>& data_directory,
                        const std::optional<ListenAddress>& listen);

// The folder with the plugins that are shipped with a program: ../lib/muster/plugins, beside an
// installed one and in a build tree; if that is not there, ../lib/<triplet>/muster/plugins or
// ../lib64/muster/plugins, where other packagers put it.
std::filesystem::path shipped_plugin_folder(const std::filesystem::path& executable);

// default.toml with the defaults filled in: a complete, commented file to start from.
std::string default_configuration_text(const Defaults& defaults);

// At the first start without --config: the folder of worker configurations with one to start from,
// and the folder of its tasks, in the data directory, which must be there. What exists is left as
// it is: if the folder of worker configurations does, nothing is written at all. True: it was done.
// The folder of tasks is given to the user that workers run as, if that is another one.
Result<bool> write_first_files(const std::filesystem::path& data_directory,
                               const std::optional<RunAs>& worker_user);

}  // namespace muster::config
