// One function for each endpoint. They run after all checks of the endpoint's description and must
// not wait; they answer the call, at once or later.
#pragma once

#include "host/taskcluster_api/call.hpp"

namespace muster::taskcluster_api {

// monitoring.cpp
void ping(const CallPtr& call);
void heartbeat_of_load_balancers(const CallPtr& call);
void version(const CallPtr& call);
void heartbeat(const CallPtr& call);
void list_providers(const CallPtr& call);

// pools.cpp
void create_worker_pool(const CallPtr& call);
void update_worker_pool(const CallPtr& call);
void delete_worker_pool(const CallPtr& call);
void worker_pool(const CallPtr& call);
void list_worker_pools(const CallPtr& call);
void list_worker_pools_stats(const CallPtr& call);
void worker_pool_stats(const CallPtr& call);

// launch_configs.cpp
void list_worker_pool_launch_configs(const CallPtr& call);
void get_launch_config(const CallPtr& call);
void pause_launch_config(const CallPtr& call);
void resume_launch_config(const CallPtr& call);

// workers.cpp
void list_workers_for_worker_pool(const CallPtr& call);
void list_workers_for_worker_group(const CallPtr& call);
void worker(const CallPtr& call);
void list_workers(const CallPtr& call);
void get_worker(const CallPtr& call);
void create_worker(const CallPtr& call);
void update_worker(const CallPtr& call);
void remove_worker(const CallPtr& call);
void should_worker_terminate(const CallPtr& call);

// errors.cpp
void report_worker_error(const CallPtr& call);
void list_worker_pool_errors(const CallPtr& call);
void worker_pool_error_stats(const CallPtr& call);

// registration.cpp
void register_worker(const CallPtr& call);
void reregister_worker(const CallPtr& call);

}  // namespace muster::taskcluster_api
