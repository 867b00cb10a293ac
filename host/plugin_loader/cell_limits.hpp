// What a cell does to itself before it loads a plugin.
#pragma once

#include <sys/types.h>

#include <muster/error.hpp>

#include "host/plugin_loader/cell_protocol.hpp"

namespace muster::plugin_loader {

// Takes the limits and the user of `limits`, forbids core dumps (they would hold the plugin's
// secrets) and debuggers, and asks the kernel to kill this process when its parent, `host_pid`,
// dies.
Result<void> limit_this_process(const CellLimits& limits, pid_t host_pid);

}  // namespace muster::plugin_loader
