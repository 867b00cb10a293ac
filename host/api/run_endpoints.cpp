// Task runs: of a worker, a pool, a launch configuration, a worker configuration; and where they
// come from.
#include "host/api/handlers.hpp"
#include "host/api/list_pages.hpp"
#include "host/api/query_parameters.hpp"
#include "host/worker_state/service.hpp"

namespace muster::api {
namespace {

using worker_state::Scope;

worker_state::Service& runs_of(const Call& call) {
  return *services_of(call).runs;
}

// `counts`: all outcomes of what the path or the query names, also of runs that are not kept.
Answer list_runs(const Call& call, worker_state::RunFilter filter, const json::value& counts) {
  const auto limit = call.query().limit();
  if (!limit) return to_failure(limit.error());
  if (const auto outcome = call.query().find("outcome")) {
    filter.outcome = named<worker_state::Outcome>(*outcome);
    if (!filter.outcome) return to_failure(not_one_of<worker_state::Outcome>("outcome"));
  }
  const auto page = runs_of(call).page(filter, call.query().text("after"), *limit);
  if (!page) return to_failure(page.error());
  json::array runs;
  for (const worker_state::TaskRunRow& run : page->runs) runs.push_back(to_json(run));
  json::object answer{{"runs", std::move(runs)}, {"counts", counts}};
  if (!page->next.empty()) answer["next"] = page->next;
  return json_answer(answer);
}

json::value counts_of(const Call& call, Scope scope, std::string_view name) {
  return to_json(runs_of(call).counts(scope, call.worker_pool_id(), name));
}

Answer list_all_runs(const Call& call) {
  const std::string configuration = call.query().text("workerConfiguration");
  return list_runs(call, {.worker_configuration = configuration},
                   configuration.empty() ? to_json(runs_of(call).numbers().counts)
                                         : to_json(runs_of(call).counts(Scope::workerConfiguration,
                                                                        {}, configuration)));
}

Answer list_pool_runs(const Call& call) {
  return list_runs(call, {.worker_pool_id = call.worker_pool_id().str()},
                   counts_of(call, Scope::pool, ""));
}

Answer list_worker_runs(const Call& call) {
  const std::string &group = call.parameter("workerGroup"), &id = call.parameter("workerId");
  return list_runs(
      call, {.worker_pool_id = call.worker_pool_id().str(), .worker_group = group, .worker_id = id},
      counts_of(call, Scope::worker, group + "/" + id));
}

Answer list_launch_config_runs(const Call& call) {
  const std::string& id = call.parameter("launchConfigId");
  return list_runs(call, {.worker_pool_id = call.worker_pool_id().str(), .launch_config_id = id},
                   counts_of(call, Scope::launchConfig, id));
}

Answer show_run_source(const Call& call) {
  json::object document = runs_of(call).status_json();
  json::array messages;
  for (const worker_state::SetAsideMessageRow& message : runs_of(call).set_aside_messages()) {
    if (messages.size() == 100) break;
    messages.push_back(to_json(message));
  }
  document["setAside"] = std::move(messages);
  return json_answer(document);
}

}  // namespace

// On a worker thread, because all runs may have to be looked at.
std::vector<Endpoint> run_endpoints() {
  return {
      {.name = "listRuns",
       .method = "GET",
       .path = base + "/runs",
       .scopes = all_of({"muster:get:workers"}),
       .handler = OnWorkerThreadWithFleet{list_all_runs},
       .query = {parameter::limit, parameter::after, parameter::of_worker_configuration,
                 parameter::outcome},
       .output = "RunList",
       .errors = {bad_input, unavailable},
       .category = "task runs",
       .title = "Task runs of all pools or of a worker configuration, the newest first"},
      {.name = "listPoolRuns",
       .method = "GET",
       .path = base + "/pools/{workerPoolId}/runs",
       .scopes = all_of({"muster:get:pool:<workerPoolId>"}),
       .handler = OnWorkerThreadWithFleet{list_pool_runs},
       .query = {parameter::limit, parameter::after, parameter::outcome},
       .output = "RunList",
       .errors = {bad_input, unavailable},
       .category = "task runs",
       .title = "Task runs of a worker pool, the newest first"},
      {.name = "listWorkerRuns",
       .method = "GET",
       .path = base + "/pools/{workerPoolId}/workers/{workerGroup}/{workerId}/runs",
       .scopes = all_of({"muster:get:pool:<workerPoolId>"}),
       .handler = OnWorkerThreadWithFleet{list_worker_runs},
       .query = {parameter::limit, parameter::after, parameter::outcome},
       .output = "RunList",
       .errors = {bad_input, unavailable},
       .category = "task runs",
       .title = "Task runs of a worker, the newest first"},
      {.name = "listLaunchConfigRuns",
       .method = "GET",
       .path = base + "/pools/{workerPoolId}/launch-configs/{launchConfigId}/runs",
       .scopes = all_of({"muster:get:pool:<workerPoolId>"}),
       .handler = OnWorkerThreadWithFleet{list_launch_config_runs},
       .query = {parameter::limit, parameter::after, parameter::outcome},
       .output = "RunList",
       .errors = {bad_input, unavailable},
       .category = "task runs",
       .title = "Task runs of the workers of a launch configuration, the newest first"},
      {.name = "getRunSource",
       .method = "GET",
       .path = base + "/run-source",
       .scopes = all_of({"muster:get:workers"}),
       .handler = OnWorkerThreadWithFleet{show_run_source},
       .output = "RunSource",
       .errors = {unavailable},
       .category = "task runs",
       .title = "Where task runs come from, and messages that say nothing about one"},
  };
}

}  // namespace muster::api
