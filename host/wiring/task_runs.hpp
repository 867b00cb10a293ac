// What task runs and the fleet know of each other.
#pragma once

#include <optional>
#include <vector>

#include "host/fleet/service.hpp"
#include "host/worker_state/resolved_run.hpp"
#include "host/worker_state/run_table.hpp"

namespace muster {

// What the fleet knows of each of these workers; nothing: their pool is none of the fleet's.
std::vector<std::optional<worker_state::WorkerOrigin>> origins_of(
    fleet::Service& fleet_service, const std::vector<worker_state::WorkerKey>& workers);

// The fleet judges workers, images and launch configurations by these. Does not wait.
void judge_by(fleet::Service& fleet_service, const std::vector<worker_state::ResolvedRun>& runs);

}  // namespace muster
