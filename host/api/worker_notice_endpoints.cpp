// What workers report of themselves, with their own credentials.
#include <muster/codec.hpp>

#include "host/api/handlers.hpp"
#include "host/api/query_parameters.hpp"
#include "host/worker_logs/log_store.hpp"

namespace muster::api {
namespace {

using fleet::Fleet;
using fleet::Now;

FleetChangeOrFailure read_interruption(const Call& call) {
  Interruption interruption;
  bool given = false;
  for (const auto& [key, value] : call.body()) {
    const auto time = key == "at" && value.is_string()
                          ? parse_time(std::string_view(value.get_string()))
                          : std::nullopt;
    if (time) {
      interruption.at = *time;
      given = true;
    } else if (key == "at") {
      return input_error("`at` must be a time such as 2026-01-02T03:04:05Z");
    } else if (key == "reason" && value.is_string() && value.get_string().size() <= 1000) {
      interruption.reason = value.get_string();
    } else {
      return input_error("`" + std::string(key) +
                         "` is not known here, or is not a string of at most 1000 characters; "
                         "the body has `at` and perhaps `reason`");
    }
  }
  if (!given) return input_error("`at` is missing: when the machine is taken away");
  return plain_change([name = worker_of(call), interruption](Fleet& fleet, Now now) {
    return fleet.interrupt(name, interruption, now);
  });
}

FleetChangeOrFailure read_activity(const Call& call) {
  const json::value* busy = call.body().if_contains("busy");
  if (call.body().size() != 1 || !busy || !busy->is_int64() || busy->get_int64() < 0)
    return input_error("the body has `busy`, and nothing else: how much of its capacity works");
  return plain_change([name = worker_of(call), busy = busy->get_int64()](Fleet& fleet, Now now) {
    return fleet.worker_active(name, busy, now);
  });
}

// -------------------------------------------------------------------------------------------------
// Logs

std::string log_key(const Call& call) {
  return call.worker_pool_id().str() + "/" + call.parameter("workerGroup") + "/" +
         call.parameter("workerId");
}

Failure unknown_worker(const Call& call) {
  return not_found("there is no worker " + log_key(call) + "; see: muster workers");
}

Answer take_log(const Call& call, const Fleet& fleet, Now now) {
  const json::value* from = call.body().if_contains("from");
  const json::value* next = call.body().if_contains("next");
  const json::value* text = call.body().if_contains("text");
  worker_logs::LogStore& logs = *services_of(call).worker_logs;
  if (call.body().size() != 3 || !from || !from->is_int64() || from->get_int64() < 0 || !next ||
      !next->is_int64() || next->get_int64() < from->get_int64() || !text || !text->is_string())
    return input_error(
        "the body has `from` and `next`, numbers that do not fall, and `text`, and nothing else");
  if (text->get_string().size() > logs.limits().longest_part)
    return input_error("`text` has " + std::to_string(logs.limits().longest_part) +
                       " bytes at most");
  if (!fleet.find_worker(worker_of(call))) return unknown_worker(call);
  logs.append(log_key(call),
              {from->get_int64(), next->get_int64(), std::string(text->get_string()), now.wall});
  return json_answer(json::object{});
}

Answer show_log(const Call& call, const Fleet& fleet, Now) {
  constexpr std::int64_t furthest = std::int64_t{1} << 62;
  const auto from = call.query().number("from", 0, 0, furthest);
  if (!from) return to_failure(from.error());
  const auto part = services_of(call).worker_logs->read(log_key(call), *from);
  if (part)
    return json_answer(json::object{{"from", part->from},
                                    {"next", part->next},
                                    {"text", part->text},
                                    {"at", format_time(part->at)}});
  if (!fleet.find_worker(worker_of(call))) return unknown_worker(call);
  return json_answer(json::object{{"from", 0}, {"next", 0}, {"text", ""}, {"at", nullptr}});
}

}  // namespace

std::vector<Endpoint> worker_notice_endpoints() {
  return {
      {.name = "reportInterruption",
       .method = "POST",
       .path = base + "/pools/{workerPoolId}/workers/{workerGroup}/{workerId}/interruption",
       .scopes = all_of({"worker-manager:remove-worker:<workerPoolId>/<workerGroup>/<workerId>"}),
       .handler = read_interruption,
       .input = "InterruptionRequest",
       .audit = not_audited("a worker reports on itself"),
       .output = "Empty",
       .errors = {bad_input, missing, unavailable},
       .category = "workers",
       .title = "A worker says that its machine is taken away at a time",
       .description =
           "A worker may use its own credentials. It gets no more work and is replaced."},
      {.name = "reportActivity",
       .method = "POST",
       .path = base + "/pools/{workerPoolId}/workers/{workerGroup}/{workerId}/activity",
       .scopes = all_of(
           {"worker-manager:should-worker-terminate:<workerPoolId>/<workerGroup>/<workerId>"}),
       .handler = read_activity,
       .input = "ActivityRequest",
       .audit = not_audited("a worker reports on itself"),
       .output = "Empty",
       .errors = {bad_input, missing, expired, unavailable},
       .category = "workers",
       .title = "A worker says how much of its capacity works",
       .description = "A worker may use its own credentials."},
      {.name = "reportLog",
       .method = "POST",
       .path = base + "/pools/{workerPoolId}/workers/{workerGroup}/{workerId}/log",
       .scopes = all_of(
           {"worker-manager:should-worker-terminate:<workerPoolId>/<workerGroup>/<workerId>"}),
       .handler = take_log,
       .input = "LogReport",
       .audit = not_audited("a worker reports on itself"),
       .max_body_bytes = 128 * 1024,
       .output = "Empty",
       .errors = {bad_input, missing, unavailable},
       .category = "workers",
       .title = "A worker's agent sends what its worker printed",
       .description = "A worker may use its own credentials. At most 16 KiB at once; of a worker "
                      "the newest 64 KiB are kept, in memory."},
      {.name = "workerLog",
       .method = "GET",
       .path = base + "/pools/{workerPoolId}/workers/{workerGroup}/{workerId}/log",
       .scopes = all_of({"muster:get:logs:<workerPoolId>"}),
       .handler = show_log,
       .query = {parameter::log_from},
       .output = "WorkerLog",
       .errors = {bad_input, missing, unavailable},
       .category = "workers",
       .title = "What a worker printed lately",
       .description = "Ask again with `from`, the `next` of the last answer, for what came since. "
                      "The text is as the worker printed it and may hold anything: show it with "
                      "control characters replaced."},
  };
}

}  // namespace muster::api
