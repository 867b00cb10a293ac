// A plugin instance in a cell, seen from the host.
#pragma once

#include <memory>

#include "host/plugin_loader/backend.hpp"
#include "host/plugin_loader/cell_protocol.hpp"
#include "host/plugin_loader/cell_spawner.hpp"

namespace muster::plugin_loader {

struct OpenedCell {
  std::shared_ptr<Backend> backend;  // null if it was only a check
  StartReply start;
  std::int64_t peak_memory_bytes = 0;  // of a check
};

// Starts a cell and waits until its instances are made. A cell that crashes, hangs or blows up
// meanwhile is a refusal of the plugin, with a sentence that says which. The cell dies with the
// last reference to the backend, and with the host.
Result<OpenedCell> open_cell(CellSpawner& spawner, const StartRequest& request,
                             HostServices services, std::chrono::milliseconds budget);

}  // namespace muster::plugin_loader
