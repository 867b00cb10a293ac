// The section [workerState] of the host's configuration.
#pragma once

#include <filesystem>

#include <muster/json.hpp>

#include "host/config/worker_state_settings.hpp"

namespace muster::config {

// `from` has passed the schema. Paths are relative to `base`.
WorkerStateSettings read_worker_state(const json::object& from, const std::filesystem::path& base);

}  // namespace muster::config
