// A task run that has ended, as those hear of it who judge workers by what becomes of their tasks.
#pragma once

#include <string>

#include <muster/context.hpp>
#include <muster/ids.hpp>

#include "host/worker_state/outcome.hpp"

namespace muster::worker_state {

struct ResolvedRun {
  std::string task_id = {};
  std::int64_t run_id = 0;
  WorkerPoolId worker_pool_id = {};
  WorkerGroup worker_group = {};
  WorkerId worker_id = {};
  std::string launch_config_id = {};  // empty: the fleet did not know the worker
  std::string worker_configuration =
      {};  // the file of the pool; empty: likewise, or made by the API
  Outcome outcome = Outcome::completed;  // never `running`
  Reason reason = Reason::none;
  Time started{}, resolved{};

  friend bool operator==(const ResolvedRun&, const ResolvedRun&) = default;
};

}  // namespace muster::worker_state
