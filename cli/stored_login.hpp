// What `muster login` and `muster context` keep between two commands: addresses and credentials, in
// files that only their owner can read.
#pragma once

#include <functional>
#include <map>

#include "cli/host_address.hpp"

namespace muster::cli {

// $XDG_CONFIG_HOME/muster/login.json, or ~/.config/muster/login.json; fails if neither is set.
Result<std::filesystem::path> login_file(const Environment& environment);
// Nothing if there is none; fails if it cannot be read or others may read it.
Result<std::optional<HostAddress>> read_login(const Environment& environment);
// Replaces the file, readable by its owner alone. Returns its path.
Result<std::filesystem::path> write_login(const HostAddress& address,
                                          const Environment& environment);

// Several hosts by name.
struct Contexts {
  std::string current = {};  // the one in use; empty: none
  std::map<std::string, HostAddress> all = {};
};

// $XDG_CONFIG_HOME/muster/contexts.json, likewise.
Result<std::filesystem::path> contexts_file(const Environment& environment);
// None if there is no file; fails like read_login().
Result<Contexts> read_contexts(const Environment& environment);
// Changes them and replaces the file, while no other process does. Nothing is written if `change`
// fails.
Result<std::filesystem::path> change_contexts(const Environment& environment,
                                              const std::function<Result<void>(Contexts&)>& change);
// The context of this name; fails with the nearest one if there is none.
Result<HostAddress> find_context(const Contexts& contexts, const std::string& name);
// Letters, digits, `.`, `_` and `-`, 64 at most.
bool is_context_name(const std::string& name);

}  // namespace muster::cli
