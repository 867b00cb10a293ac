// What the messages of Taskcluster's Queue say about runs of tasks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <muster/error.hpp>
#include <muster/json.hpp>

#include "host/worker_state/task_run.hpp"

namespace muster::worker_state {

// "exchange/taskcluster-queue/v1/task-running" and the three others, for that prefix.
std::vector<std::string> queue_exchanges(const std::string& prefix);

// The key that binds one pool.
std::string binding_of(const WorkerPoolId& pool);

// All claimed runs of the message's task: so a message that was lost is made up for by the next one
// of its task. None if no worker ever had a run. Fails as `invalid` if it is no such message.
Result<std::vector<RunReport>> parse_queue_message(std::string_view body);

// The same of a task's status, as the Queue answers when it is asked.
Result<std::vector<RunReport>> parse_task_status(const json::object& status);

}  // namespace muster::worker_state
