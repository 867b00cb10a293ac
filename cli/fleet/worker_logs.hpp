// The output of workers, as their agents have sent it to the host.
#pragma once

#include <string>
#include <string_view>

#include "cli/host_address.hpp"

namespace muster::cli {

struct WorkerLogOptions {
  HostOptions host;
  std::string target;  // a pool, or workerGroup/workerId
  bool follow = false, as_json = false;
};

// Of one worker as it is; of a pool each line with its worker before it.
void show_worker_logs(const WorkerLogOptions& options);

// What a worker printed, without anything that a terminal takes for a command: control characters
// but line feeds and tabs become U+FFFD.
std::string for_terminal(std::string_view text);

}  // namespace muster::cli
