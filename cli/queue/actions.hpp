// What the commands about the queue do. Reading command lines is elsewhere; it costs compile time.
#pragma once

#include <string>
#include <vector>

#include "cli/host_address.hpp"

namespace muster::cli {

struct QueueOptions {
  HostOptions host;
  bool as_json = false, watch = false, exclusive = false;
  std::string name, subject;
  std::vector<std::string> teams, key_files;
  bool no_keys = false;
  double weight = 1;
  long long max_held = 0, max_pending = 0;
};

void show_queue(const QueueOptions& options);
void list_worker_pools(const QueueOptions& options);
void set_worker_pool(const QueueOptions& options);
void destroy_worker_pool(const QueueOptions& options);
void attach_worker_pool(const QueueOptions& options);
void detach_worker_pool(const QueueOptions& options);
void set_team(const QueueOptions& options);

// why.cpp: a request, a pool, a launch configuration or a worker.
void print_why(const QueueOptions& options);
void print_eta(const QueueOptions& options);

// lease.cpp
struct LeaseOptions {
  HostOptions host;
  std::string team = "main", pool, cache_key, wait, heartbeat = "60s";
  std::vector<std::string> tags, resources, strategies, command;
  long long priority = 0;
};

// Waits for a worker, runs the command while it is held, and ends the program with its exit code.
void lease(const LeaseOptions& options);

}  // namespace muster::cli
