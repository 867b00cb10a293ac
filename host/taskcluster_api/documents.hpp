// What clients see of pools, launch configurations, workers and errors.
#pragma once

#include "host/fleet/fleet.hpp"
#include "host/taskcluster_api/pretty_text.hpp"

namespace muster::worker_state {
class Service;
}

namespace muster::taskcluster_api {

// Workers and capacity by state.
struct Counts {
  std::array<std::int64_t, 4> workers{}, capacity{};  // by fleet::WorkerState

  void add(const fleet::Worker& worker);
};

Counts count_workers(const fleet::Fleet& fleet, const fleet::Pool& pool);

// The keys of it, into an object that is open.
void write_counts(PrettyText& text, const Counts& counts);

// Whether there is such a pool for clients: one that is or was configured.
bool is_shown(const fleet::Pool& pool);
void write_pool(PrettyText& text, const fleet::Fleet& fleet, const fleet::Pool& pool);

// A launch configuration in the form in which pools are made: place, the provider's own keys,
// workerConfig and workerManager in one object.
json::object configuration_of(const fleet::LaunchConfigSpec& spec);

enum class LaunchConfigDetail { list, single };
void write_launch_config(PrettyText& text, const fleet::Fleet& fleet,
                         const fleet::LaunchConfigState& launch_config, LaunchConfigDetail detail);

// As clients know it: a machine that has signed off is stopped for them.
fleet::WorkerState shown_state(const fleet::Worker& worker);
// A worker whose instance is not known yet has no name, and nobody outside can speak of it.
bool has_name(const fleet::Worker& worker);
void write_worker(PrettyText& text, const fleet::Fleet& fleet, const fleet::Worker& worker,
                  Time now);
// As a queue sees it; `runs` may be null; `single` is all that is known.
void write_queue_worker(PrettyText& text, const fleet::Fleet& fleet, const fleet::Worker& worker,
                        Time now, const worker_state::Service* runs, bool single);

void write_error(PrettyText& text, const std::string& host_id, const fleet::PoolErrorRow& error);

}  // namespace muster::taskcluster_api
