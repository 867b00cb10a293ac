#include "host/worker_state/queue_message.hpp"

#include <algorithm>

#include <muster/codec.hpp>
#include <muster/json.hpp>

namespace muster::worker_state {
namespace {

constexpr std::size_t longest_id = 128;
constexpr std::size_t most_runs = 1001;

// Nothing if it is absent; an error if it is something else.
Result<std::string> text_in(const json::object& from, const char* key) {
  const json::value* value = from.if_contains(key);
  if (!value || value->is_null()) return std::string();
  if (!value->is_string() || value->get_string().size() > longest_id)
    return Error::invalid(std::string(key) + " is no text of at most 128 letters");
  return std::string(value->get_string());
}

Result<Time> time_in(const json::object& from, const char* key) {
  const auto text = text_in(from, key);
  if (!text) return text.error();
  if (text->empty()) return Time{};
  const auto time = parse_time(*text);
  if (!time) return Error::invalid(std::string(key) + " is no time: " + *text);
  return *time;
}

Reason reason_of(Outcome outcome, const std::string& word) {
  if (outcome != Outcome::exception) return Reason::none;
  const auto names = enum_names(Reason{});
  const auto found = std::ranges::find(names, word);
  return found == names.end() ? Reason::other : static_cast<Reason>(found - names.begin());
}

// Nothing: it waits, or no worker had it.
Result<std::optional<RunReport>> parse_run(const json::value& value, std::size_t number) {
  if (!value.is_object()) return Error::invalid("a run is no object");
  const json::object& run = value.get_object();
  const auto state = text_in(run, "state"), reason = text_in(run, "reasonResolved"),
             group = text_in(run, "workerGroup"), id = text_in(run, "workerId");
  for (const auto* text : {&state, &reason, &group, &id})
    if (!*text) return text->error();
  const auto started = time_in(run, "started"), resolved = time_in(run, "resolved");
  if (!started) return started.error();
  if (!resolved) return resolved.error();
  if (*state == "pending" || (*state == "exception" && id->empty())) return std::nullopt;
  const auto names = enum_names(Outcome{});
  const auto outcome = std::ranges::find(names, *state);
  if (outcome == names.end()) return Error::invalid("a run has the unknown state " + *state);
  RunReport report{.run_id = static_cast<std::int64_t>(number),
                   .worker = {{}, WorkerGroup(*group), WorkerId(*id)},
                   .outcome = static_cast<Outcome>(outcome - names.begin()),
                   .started = *started,
                   .resolved = *resolved};
  report.reason = reason_of(report.outcome, *reason);
  return report;
}

}  // namespace

std::vector<std::string> queue_exchanges(const std::string& prefix) {
  return {prefix + "task-running", prefix + "task-completed", prefix + "task-failed",
          prefix + "task-exception"};
}

std::string binding_of(const WorkerPoolId& pool) {
  std::string words = pool.str();
  std::ranges::replace(words, '/', '.');
  return "primary.*.*.*.*." + words + ".#";
}

Result<std::vector<RunReport>> parse_task_status(const json::object& status) {
  const auto task = text_in(status, "taskId");
  if (!task) return task.error();
  auto pool = text_in(status, "taskQueueId");
  if (!pool) return pool.error();
  if (pool->empty()) {  // older Queues say it in two parts only
    const auto provisioner = text_in(status, "provisionerId"), type = text_in(status, "workerType");
    if (!provisioner || !type || provisioner->empty() || type->empty())
      return Error::invalid("the status names no taskQueueId");
    pool = *provisioner + "/" + *type;
  }
  const json::value* runs = status.if_contains("runs");
  if (!runs || !runs->is_array() || runs->get_array().size() > most_runs)
    return Error::invalid("the status has no list of at most 1001 runs");
  std::vector<RunReport> reports;
  std::size_t number = 0;
  for (const json::value& run : runs->get_array()) {
    auto report = parse_run(run, number++);
    if (!report) return report.error();
    if (!*report) continue;
    (*report)->task_id = *task;
    (*report)->worker.worker_pool_id = WorkerPoolId(*pool);
    reports.push_back(std::move(**report));
  }
  return reports;
}

Result<std::vector<RunReport>> parse_queue_message(std::string_view body) {
  const auto message = json::parse_object(body);
  if (!message) return Error::invalid("it is no JSON object: " + message.error().message);
  const json::value* version = message->if_contains("version");
  if (!version || *version != 1) return Error::invalid("its version is not 1");
  const json::value* status = message->if_contains("status");
  if (!status || !status->is_object()) return Error::invalid("it has no status of a task");
  return parse_task_status(status->get_object());
}

}  // namespace muster::worker_state
