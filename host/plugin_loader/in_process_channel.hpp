// A plugin instance in the host's own process, on a thread of its own.
#pragma once

#include <memory>

#include "host/plugin_loader/backend.hpp"
#include "host/plugin_loader/crash_record.hpp"
#include "host/plugin_loader/library.hpp"

namespace muster::plugin_loader {

// Makes the instance. A plugin that hangs in create() or in a call is abandoned: its thread keeps
// running on memory that stays alive for it, and nobody waits for it any more. `label`
// names the plugin and its version in `crash_record`, which may be null.
Result<std::shared_ptr<Backend>> open_in_process(std::shared_ptr<const Library> library,
                                                 std::string_view config, HostServices services,
                                                 std::chrono::milliseconds create_budget,
                                                 std::shared_ptr<CrashRecord> crash_record,
                                                 std::string label);

}  // namespace muster::plugin_loader
