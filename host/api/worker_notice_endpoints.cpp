// What workers report of themselves, with their own credentials.
#include <muster/codec.hpp>

#include "host/api/handlers.hpp"

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
  };
}

}  // namespace muster::api
