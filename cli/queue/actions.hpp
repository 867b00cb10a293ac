// What the commands about the queue do. Reading command lines is elsewhere; it costs compile time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/host_address.hpp"
#include "cli/terminal.hpp"

namespace muster::cli {

struct QueueOptions {
  HostOptions host;
  ViewOptions view;
  bool as_json = false, watch = false, exclusive = false, yes = false;
  std::string name, subject, team, state, until, duration;
  std::vector<std::string> teams, key_files;
  bool no_keys = false;
  // Without a value: as it is.
  std::optional<double> weight = {};
  std::optional<long long> max_held = {}, max_pending = {};
};

void show_queue(const QueueOptions& options);
void list_worker_pools(const QueueOptions& options);
void set_worker_pool(const QueueOptions& options);
void destroy_worker_pool(const QueueOptions& options);
void attach_worker_pool(const QueueOptions& options);
void detach_worker_pool(const QueueOptions& options);
void list_teams(const QueueOptions& options);
void show_team(const QueueOptions& options);
void set_team(const QueueOptions& options);
void list_requests(const QueueOptions& options);
void show_request(const QueueOptions& options);
void cancel_request(const QueueOptions& options);
void extend_request(const QueueOptions& options);

// why.cpp: a request, a pool, a launch configuration or a worker.
void print_why(const QueueOptions& options);
void print_eta(const QueueOptions& options);

// lease.cpp
struct LeaseOptions {
  HostOptions host;
  std::string team = "main", pool, payload_file, cache_key, wait, heartbeat = "60s";
  std::vector<std::string> tags, resources, strategies, command;
  long long priority = 0;
  bool as_json = false;
};

// Waits for a worker, runs the command while it is held, and ends the program with its exit code.
void lease(const LeaseOptions& options);

}  // namespace muster::cli
