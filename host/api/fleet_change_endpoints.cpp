// What operators may do to the fleet through the API.
#include "host/api/fleet_json.hpp"
#include "host/api/handlers.hpp"
#include "host/api/query_parameters.hpp"
#include "host/pools/api_pool.hpp"

namespace muster::api {
namespace {

using fleet::Fleet;
using fleet::Now;

struct Pause {
  Time until{};
  std::string reason;
};

// {"until", "reason"}; `what` says what else there is to know about the time.
boost::system::result<Pause, Failure> pause_from(const Call& call, const char* what) {
  Pause pause;
  for (const auto& [key, value] : call.body()) {
    if (key == "reason" && value.is_string()) {
      pause.reason = value.get_string();
    } else if (key == "until" && value.is_string()) {
      pause.until = parse_time(std::string_view(value.get_string())).value_or(Time{});
    } else {
      return input_error("`" + std::string(key) +
                         "` is not known here or is not a string; the body has `until` and "
                         "perhaps `reason`");
    }
  }
  if (pause.until == Time{})
    return input_error("`until` must be a time such as 2026-01-02T03:04:05Z" + std::string(what));
  if (pause.reason.size() > 1000) return input_error("`reason` has 1000 characters at most");
  return pause;
}

LaunchConfigId launch_config_of(const Call& call) {
  return LaunchConfigId(call.parameter("launchConfigId"));
}

FleetChangeOrFailure pause(const Call& call) {
  const auto wanted = pause_from(call, "");
  if (!wanted) return wanted.error();
  return plain_change([pool = call.worker_pool_id(), id = launch_config_of(call), wanted = *wanted](
                          Fleet& fleet, Now now) {
    return fleet.pause(pool, id, wanted.until, wanted.reason, now);
  });
}

FleetChangeOrFailure resume(const Call& call) {
  return plain_change([pool = call.worker_pool_id(), id = launch_config_of(call)](
                          Fleet& fleet, Now now) { return fleet.resume(pool, id, now); });
}

FleetChangeOrFailure remove_worker(const Call& call) {
  const std::string by = call.client_id().empty() ? "an operator" : call.client_id();
  return plain_change([name = worker_of(call), by](Fleet& fleet, Now now) {
    return fleet.remove_worker(name, "removed by " + by, now);
  });
}

FleetChangeOrFailure quarantine(const Call& call) {
  const auto wanted = pause_from(call, "; one that is past releases it");
  if (!wanted) return wanted.error();
  const std::string by = call.client_id().empty() ? "" : "by " + call.client_id();
  std::string reason =
      wanted->reason.empty() || by.empty() ? wanted->reason + by : wanted->reason + " (" + by + ")";
  return plain_change(
      [name = worker_of(call), until = wanted->until, reason = std::move(reason)](
          Fleet& fleet, Now now) { return fleet.quarantine(name, until, reason, now); });
}

// The provider is asked on a thread that may wait, then the fleet takes the pool.
void put_pool(const CallPtr& call) {
  if (!can_change(call)) return;
  run_on_worker(call, [call] {
    const Services& services = services_of(*call);
    auto spec = pools::pool_from_api(call->worker_pool_id(), call->body(),
                                     services.provider_context(), services.expand);
    if (!spec) return call->fail(to_failure(spec.error()));
    const auto made = std::make_shared<const fleet::PoolSpec>(std::move(*spec));
    change_fleet(call, [call, made](Fleet& fleet, Now now) -> Answer {
      if (auto refusal = refuse_current_providers(*call, fleet)) return *refusal;
      if (const auto done = fleet.put_api_pool(made, call->body(), now); !done)
        return to_failure(done.error());
      return json_answer(json::object{});
    });
  });
}

FleetChangeOrFailure remove_pool(const Call& call) {
  return plain_change([pool = call.worker_pool_id()](Fleet& fleet, Now now) {
    return fleet.remove_api_pool(pool, now);
  });
}

FleetChangeOrFailure release_holds(const Call& call) {
  return FleetChange([provider = ProviderId(call.parameter("providerId")),
                      scope = call.query().optional_text("scope")](Fleet& fleet,
                                                                   Now now) -> Answer {
    const Result<std::vector<bidding::Hold>> released = fleet.release_holds(provider, scope, now);
    if (!released) return to_failure(released.error());
    json::array holds;
    for (const bidding::Hold& hold : *released) holds.push_back(hold_document(hold));
    return json_answer(json::object{{"released", std::move(holds)}});
  });
}

}  // namespace

std::vector<Endpoint> fleet_change_endpoints() {
  return {
      {.name = "putPool",
       .method = "PUT",
       .path = base + "/pools/{workerPoolId}",
       .scopes = all_of({"muster:put-pool:<workerPoolId>", endpoints::use_provider}),
       .handler = put_pool,
       .input = "WorkerPoolRequest",
       .audit = audited({"providerId", "owner", "emailOnError", "description"}),
       .output = "Empty",
       .errors = {bad_input, missing, unavailable},
       .category = "pools",
       .title = "Make a pool, or change one that was made so",
       .description =
           "A pool that a worker configuration makes is refused: its file is named. The caller "
           "needs the scope of the provider that the body names, and of the one that the pool "
           "has."},
      {.name = "removePool",
       .method = "DELETE",
       .path = base + "/pools/{workerPoolId}",
       .scopes = all_of({"muster:remove-pool:<workerPoolId>"}),
       .handler = remove_pool,
       .audit = audited(),
       .output = "Empty",
       .errors = {bad_input, missing, unavailable},
       .category = "pools",
       .title = "Remove a pool that was made through the API; its workers drain"},
      {.name = "pauseLaunchConfig",
       .method = "POST",
       .path = base + "/pools/{workerPoolId}/launch-configs/{launchConfigId}/pause",
       .scopes = all_of({"muster:pause-launch-config:<workerPoolId>"}),
       .handler = pause,
       .input = "PauseRequest",
       .audit = audited({"until", "reason"}),
       .output = "Empty",
       .errors = {bad_input, missing, unavailable},
       .category = "launch configurations",
       .title = "Launch nothing from it until a time"},
      {.name = "resumeLaunchConfig",
       .method = "POST",
       .path = base + "/pools/{workerPoolId}/launch-configs/{launchConfigId}/resume",
       .scopes = all_of({"muster:resume-launch-config:<workerPoolId>"}),
       .handler = resume,
       .audit = audited(),
       .output = "Empty",
       .errors = {bad_input, missing, unavailable},
       .category = "launch configurations",
       .title = "End its pause"},
      {.name = "removeWorker",
       .method = "DELETE",
       .path = base + "/pools/{workerPoolId}/workers/{workerGroup}/{workerId}",
       .scopes = all_of({"muster:remove-worker:<workerPoolId>"}),
       .handler = remove_worker,
       .audit = audited(),
       .output = "Empty",
       .errors = {missing, unavailable},
       .category = "workers",
       .title = "Stop a worker"},
      {.name = "quarantineWorker",
       .method = "POST",
       .path = base + "/pools/{workerPoolId}/workers/{workerGroup}/{workerId}/quarantine",
       .scopes = all_of({"muster:quarantine-worker:<workerPoolId>"}),
       .handler = quarantine,
       .input = "PauseRequest",
       .audit = audited({"until", "reason"}),
       .output = "Empty",
       .errors = {bad_input, missing, unavailable},
       .category = "workers",
       .title = "Give a worker no work until a time; one that is past releases it",
       .description =
           "Events and the journal tell the reason, and who said it. A release also ends the "
           "quarantine of a machine that is not in the state that its pool wants."},
      {.name = "releaseHolds",
       .method = "DELETE",
       .path = base + "/holds/{providerId}",
       .scopes = all_of({"muster:release-hold:<providerId>"}),
       .handler = release_holds,
       .query = {parameter::hold_scope},
       .audit = audited(),
       .output = "ReleasedHolds",
       .errors = {bad_input, missing, unavailable},
       .category = "providers",
       .title = "End holds of a provider before their time"},
  };
}

}  // namespace muster::api
