// What operators may do to the fleet through the API.
#include "host/api/fleet_api.hpp"
#include "host/api/fleet_json.hpp"
#include "host/pools/api_pool.hpp"

namespace muster::api {
namespace {

using fleet::Fleet;
using fleet::Now;
using http::error_answer;
using http::json_answer;
using http::Request;
using http::Response;

Response done(const Request& request, const Result<void>& result) {
  return result ? json_answer(json::object{}) : refusal(request, result.error());
}

struct Pause {
  Time until{};
  std::string reason;
};

// {"until", "reason"}; `what` says what else there is to know about the time.
boost::system::result<Pause, Response> pause_from(const Request& request, const char* what) {
  const auto body = http::json_body(request);
  if (!body) return body.error();
  Pause pause;
  for (const auto& [key, value] : *body) {
    if (key == "reason" && value.is_string()) {
      pause.reason = value.get_string();
    } else if (key == "until" && value.is_string()) {
      pause.until = parse_time(std::string_view(value.get_string())).value_or(Time{});
    } else {
      return error_answer(request, 400, "InputError",
                          "`" + std::string(key) +
                              "` is not known here or is not a string; the body has `until` and "
                              "perhaps `reason`");
    }
  }
  if (pause.until == Time{})
    return error_answer(request, 400, "InputError",
                        "`until` must be a time such as 2026-01-02T03:04:05Z" + std::string(what));
  if (pause.reason.size() > 1000)
    return error_answer(request, 400, "InputError", "`reason` has 1000 characters at most");
  return pause;
}

LaunchConfigId launch_config_of(const Request& request) {
  return LaunchConfigId(request.path_parameter("launchConfigId"));
}

Response pause(const Request& request, const Query&, FleetRuntime& host) {
  const auto wanted = pause_from(request, "");
  if (!wanted) return wanted.error();
  return done(request, host.fleet().change<void>([&](Fleet& fleet, Now now) {
    return fleet.pause(pool_of(request), launch_config_of(request), wanted->until, wanted->reason,
                       now);
  }));
}

Response resume(const Request& request, const Query&, FleetRuntime& host) {
  return done(request, host.fleet().change<void>([&](Fleet& fleet, Now now) {
    return fleet.resume(pool_of(request), launch_config_of(request), now);
  }));
}

Response remove_worker(const Request& request, const Query&, FleetRuntime& host) {
  const std::string by = request.client_id.empty() ? "an operator" : request.client_id;
  return done(request, host.fleet().change<void>([&](Fleet& fleet, Now now) {
    return fleet.remove_worker(worker_of(request), "removed by " + by, now);
  }));
}

Response quarantine(const Request& request, const Query&, FleetRuntime& host) {
  const auto wanted = pause_from(request, "; one that is past releases it");
  if (!wanted) return wanted.error();
  const std::string by = request.client_id.empty() ? "" : "by " + request.client_id;
  const std::string reason =
      wanted->reason.empty() || by.empty() ? wanted->reason + by : wanted->reason + " (" + by + ")";
  return done(request, host.fleet().change<void>([&](Fleet& fleet, Now now) {
    return fleet.quarantine(worker_of(request), wanted->until, reason, now);
  }));
}

Response put_pool(const Request& request, const Query&, FleetRuntime& host) {
  const auto body = http::json_body(request);
  if (!body) return body.error();
  const auto spec = pools::pool_from_api(
      pool_of(request), *body, host.provider_context(),
      [&](const ProviderId& id, const ExpandRequest& expand) { return host.expand(id, expand); });
  if (!spec) return refusal(request, spec.error());
  const auto shared = std::make_shared<const fleet::PoolSpec>(*spec);
  return done(request, host.fleet().change<void>([&](Fleet& fleet, Now now) {
    return fleet.put_api_pool(shared, *body, now);
  }));
}

Response remove_pool(const Request& request, const Query&, FleetRuntime& host) {
  return done(request, host.fleet().change<void>([&](Fleet& fleet, Now now) {
    return fleet.remove_api_pool(pool_of(request), now);
  }));
}

Response release_holds(const Request& request, const Query& query, FleetRuntime& host) {
  using Holds = std::vector<bidding::Hold>;
  const ProviderId provider(request.path_parameter("providerId"));
  const auto released = host.fleet().change<Holds>([&](Fleet& fleet, Now now) {
    return fleet.release_holds(provider, query.find("scope"), now);
  });
  if (!released) return refusal(request, released.error());
  json::array holds;
  for (const bidding::Hold& hold : *released) holds.push_back(hold_document(hold));
  return json_answer(json::object{{"released", std::move(holds)}});
}

Response back_up(const Request& request, const Query&, FleetRuntime& host) {
  const auto body = http::json_body(request);
  if (!body) return body.error();
  const json::value* given = body->if_contains("file");
  const std::string file = given && given->is_string() ? std::string(given->get_string()) : "";
  if (file.empty() || file.front() != '/')
    return error_answer(request, 400, "InputError",
                        "`file` must be an absolute path on the host's machine");
  const auto written = host.store().backup(file);
  if (!written) return refusal(request, written.error());
  return json_answer(json::object{{"file", file}});
}

}  // namespace

void add_fleet_changes(Paths& paths) {
  const std::string pool = "pools/{workerPoolId}";
  paths.work("PUT", pool, {}, put_pool);
  paths.work("DELETE", pool, {}, remove_pool);
  paths.work("POST", pool + "/launch-configs/{launchConfigId}/pause", {}, pause);
  paths.work("POST", pool + "/launch-configs/{launchConfigId}/resume", {}, resume);
  paths.work("DELETE", pool + "/workers/{workerGroup}/{workerId}", {}, remove_worker);
  paths.work("POST", pool + "/workers/{workerGroup}/{workerId}/quarantine", {}, quarantine);
  paths.work("DELETE", "holds/{providerId}", {"scope"}, release_holds);
  paths.work("POST", "backup", {}, back_up);
}

}  // namespace muster::api
