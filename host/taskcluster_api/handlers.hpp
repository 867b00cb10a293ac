// One function for each endpoint; see endpoints::Handler for what each kind of them may do.
#pragma once

#include "host/taskcluster_api/call.hpp"

namespace muster::taskcluster_api {

// monitoring.cpp
Answer ping(const Call& call);
Answer answer_load_balancer(const Call& call);
Answer version(const Call& call);
void heartbeat(const CallPtr& call);
Answer list_providers(const Call& call);

// pools.cpp
void create_worker_pool(const CallPtr& call);
void update_worker_pool(const CallPtr& call);
void delete_worker_pool(const CallPtr& call);
Answer worker_pool(const Call& call, const fleet::Fleet& fleet, fleet::Now now);
void list_worker_pools(const CallPtr& call);
void list_worker_pools_stats(const CallPtr& call);
void worker_pool_stats(const CallPtr& call);

// launch_configs.cpp
void list_worker_pool_launch_configs(const CallPtr& call);
Answer get_launch_config(const Call& call, const fleet::Fleet& fleet, fleet::Now now);
void pause_launch_config(const CallPtr& call);
void resume_launch_config(const CallPtr& call);

// workers.cpp
void list_workers_for_worker_pool(const CallPtr& call);
void list_workers_for_worker_group(const CallPtr& call);
Answer worker(const Call& call, const fleet::Fleet& fleet, fleet::Now now);
void list_workers(const CallPtr& call);
Answer get_worker(const Call& call, const fleet::Fleet& fleet, fleet::Now now);
void create_worker(const CallPtr& call);
void update_worker(const CallPtr& call);
FleetChangeOrFailure remove_worker(const Call& call);
// Whether a worker of the path calls with its own credentials: it signs off.
bool is_worker_itself(const Call& call);
void should_worker_terminate(const CallPtr& call);

// errors.cpp
void report_worker_error(const CallPtr& call);
void list_worker_pool_errors(const CallPtr& call);
void worker_pool_error_stats(const CallPtr& call);

// registration.cpp
// A peer that has failed too often lately is refused before its request is read.
std::optional<Failure> refuse_peer(const Call& call);
// What is not even a registration counts as one that failed.
void note_malformed(const Call& call);
void register_worker(const CallPtr& call);
void reregister_worker(const CallPtr& call);

}  // namespace muster::taskcluster_api
