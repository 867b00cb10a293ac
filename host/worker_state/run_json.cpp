// Task runs and their source as the API shows them.
#include <muster/codec.hpp>

#include "host/worker_state/service.hpp"

namespace muster::worker_state {

json::object to_json(const TaskRunRow& run) {
  json::object document{{"taskId", run.task_id},
                        {"runId", run.run_id},
                        {"workerPoolId", run.worker_pool_id.str()},
                        {"workerGroup", run.worker_group.str()},
                        {"workerId", run.worker_id.str()},
                        {"outcome", name_of(run.outcome)},
                        {"started", format_time(run.started)}};
  if (!run.launch_config_id.empty()) document["launchConfigId"] = run.launch_config_id;
  if (!run.worker_configuration.empty()) document["workerConfiguration"] = run.worker_configuration;
  if (run.reason != Reason::none) document["reason"] = name_of(run.reason);
  if (run.resolved) document["resolved"] = format_time(*run.resolved);
  return document;
}

json::object to_json(const Counts& counts) {
  return {{"running", counts.running},
          {"completed", counts.completed},
          {"failed", counts.failed},
          {"exception", counts.exception}};
}

json::object to_json(const SetAsideMessageRow& message) {
  return {{"number", message.number},     {"at", format_time(message.at)},
          {"exchange", message.exchange}, {"routingKey", message.routing_key},
          {"problem", message.problem},   {"body", message.body}};
}

json::object to_json(const ConsumerStatus& status) {
  json::object document{{"url", status.url},
                        {"queue", status.queue},
                        {"connected", status.connected},
                        {"connections", status.connections},
                        {"newQueues", status.gaps},
                        {"bindings", status.bindings},
                        {"received", status.received},
                        {"redelivered", status.redelivered},
                        {"acknowledged", status.acknowledged}};
  const auto time = [&](const char* key, const std::optional<Time>& at) {
    if (at) document[key] = format_time(*at);
  };
  if (!status.problem.empty()) document["problem"] = status.problem;
  time("problemAt", status.problem_at);
  time("retryAt", status.retry_at);
  time("lastMessage", status.last_message);
  return document;
}

json::object Service::status_json() const {
  const Numbers numbers = this->numbers();
  json::object document{{"kept", numbers.kept},
                        {"workers", numbers.workers},
                        {"outcomes", to_json(numbers.counts)},
                        {"messagesSetAside", numbers.set_aside}};
  if (numbers.consumer) document["queue"] = to_json(*numbers.consumer);
  return document;
}

}  // namespace muster::worker_state
