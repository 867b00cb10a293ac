// worker-runner's configuration, as far as it is simple.
#pragma once

#include "agent/configuration.hpp"

namespace muster::agent {

ReadConfiguration read_worker_runner(const std::filesystem::path& file, std::string_view text);

}  // namespace muster::agent
