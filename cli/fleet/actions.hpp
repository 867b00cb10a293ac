// What the commands about the fleet do. Reading command lines is elsewhere; it costs compile time.
#pragma once

#include <string>
#include <vector>

#include "cli/host_address.hpp"

namespace muster::cli {

struct FleetOptions {
  HostOptions host;
  bool as_json = false, stats = false, watch = false;
  std::string pool, launch_config, provider, worker, until, duration, reason, kind, digest, status,
      verdict, scope, row;
  std::vector<std::string> states, columns;
  int limit = 20;
};

void show_status(const FleetOptions& options);
void list_pools(const FleetOptions& options);
void show_one_pool(const FleetOptions& options);
void list_workers(const FleetOptions& options);
void show_one_worker(const FleetOptions& options);
void quarantine_worker(const FleetOptions& options);
void release_worker(const FleetOptions& options);
void list_launch_configs(const FleetOptions& options);
void pause_launch_config(const FleetOptions& options);
void resume_launch_config(const FleetOptions& options);
void list_decisions(const FleetOptions& options);
void list_errors(const FleetOptions& options);
void list_holds(const FleetOptions& options);
void release_holds(const FleetOptions& options);
void list_set_aside(const FleetOptions& options);
void show_set_aside(const FleetOptions& options);
void retry_set_aside(const FleetOptions& options);
void discard_set_aside(const FleetOptions& options);
void list_providers(const FleetOptions& options);
void accept_empty_configurations(const FleetOptions& options);

// "90s", "30m", "2h", "3d" or several of them ("1h30m") → seconds; nothing if it is none.
std::optional<long long> seconds_of(const std::string& duration);

}  // namespace muster::cli
