// What operators may do to the fleet through the API.
#include <functional>

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

// All launch configurations of a pool that could launch. They are changed one after the other, and
// all of them or none are made durable.
FleetChange change_launch_configs(
    const Call& call,
    const std::function<Result<void>(Fleet&, const WorkerPoolId&, const LaunchConfigId&, Now)>&
        change) {
  return plain_change([id = call.worker_pool_id(), change](Fleet& fleet, Now now) -> Result<void> {
    const fleet::Pool* pool = fleet.find_pool(id);
    if (!pool || !pool->spec)
      return Error::not_found("there is no worker pool " + id.str() + "; see: muster pool list");
    std::vector<LaunchConfigId> ids;
    for (const fleet::Index at : pool->launch_configs)
      if (fleet.launch_configs()[at].status != fleet::LaunchConfigStatus::archived)
        ids.push_back(fleet.launch_configs()[at].spec->launch_config.launch_config_id);
    if (ids.empty())
      return Error::invalid("worker pool " + id.str() + " has no launch configuration yet");
    for (const LaunchConfigId& each : ids)
      if (const auto done = change(fleet, id, each, now); !done) return done.error();
    return {};
  });
}

FleetChangeOrFailure pause_pool(const Call& call) {
  const auto wanted = pause_from(call, "");
  if (!wanted) return wanted.error();
  return change_launch_configs(call, [wanted = *wanted](Fleet& fleet, const WorkerPoolId& pool,
                                                        const LaunchConfigId& id, Now now) {
    return fleet.pause(pool, id, wanted.until, wanted.reason, now);
  });
}

FleetChangeOrFailure resume_pool(const Call& call) {
  return change_launch_configs(
      call, [](Fleet& fleet, const WorkerPoolId& pool, const LaunchConfigId& id, Now now) {
        return fleet.resume(pool, id, now);
      });
}

FleetChangeOrFailure drain_worker(const Call& call) {
  const std::string by = call.client_id().empty() ? "an operator" : call.client_id();
  const bool has_reason = !call.request().body.empty() && call.body().contains("reason");
  const std::string why = has_reason ? call.text("reason") : "";
  return plain_change(
      [name = worker_of(call), reason = "drained by " + by + (why.empty() ? "" : ": " + why)](
          Fleet& fleet, Now now) { return fleet.drain(name, reason, now); });
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
      {.name = "pausePool",
       .method = "POST",
       .path = base + "/pools/{workerPoolId}/pause",
       .scopes = all_of({"muster:pause-launch-config:<workerPoolId>"}),
       .handler = pause_pool,
       .input = "PauseRequest",
       .audit = audited({"until", "reason"}),
       .output = "Empty",
       .errors = {bad_input, missing, unavailable},
       .category = "pools",
       .title = "Launch nothing from a pool until a time",
       .description =
           "Pauses all its launch configurations. While all of them are paused, new ones "
           "of the pool begin paused, too."},
      {.name = "resumePool",
       .method = "POST",
       .path = base + "/pools/{workerPoolId}/resume",
       .scopes = all_of({"muster:resume-launch-config:<workerPoolId>"}),
       .handler = resume_pool,
       .audit = audited(),
       .output = "Empty",
       .errors = {bad_input, missing, unavailable},
       .category = "pools",
       .title = "End the pauses of all launch configurations of a pool"},
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
      {.name = "drainWorker",
       .method = "POST",
       .path = base + "/pools/{workerPoolId}/workers/{workerGroup}/{workerId}/drain",
       .scopes = all_of({"muster:remove-worker:<workerPoolId>"}),
       .handler = drain_worker,
       .input = "DrainRequest",
       .input_required = false,
       .audit = audited({"reason"}),
       .output = "Empty",
       .errors = {bad_input, missing, unavailable},
       .category = "workers",
       .title = "Give a worker no new work, and stop it when its work is done"},
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
