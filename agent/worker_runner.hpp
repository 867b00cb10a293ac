// worker-runner's configuration, as far as it is simple.
#pragma once

#include "agent/configuration.hpp"
#include "agent/host_responses.hpp"

namespace muster::agent {

// What is not supported is a mistake that says so.
ReadConfiguration read_worker_runner(const std::filesystem::path& file, std::string_view text);

// The file that generic-worker is started with: the worker's configuration (`genericWorker.config`
// in it, if there is one) with names and credentials.
std::string generic_worker_text(const json::object& worker_config, const Place& place,
                                const hawk::Credentials& credentials);

}  // namespace muster::agent
