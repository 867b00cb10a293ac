// A worker as the store keeps it.
#pragma once

#include "host/fleet/model/rows.hpp"
#include "host/fleet/model/state.hpp"

namespace muster::fleet {

// Without what refers to other records (pool, launch configuration, provider, group) and without
// what follows from the queue (busy).
Worker worker_from(WorkerRow row);

}  // namespace muster::fleet
