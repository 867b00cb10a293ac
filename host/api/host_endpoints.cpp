// The host itself: whether it lives, what it is, its plugins, its metrics and its API.
#include <muster/codec.hpp>

#include "host/api/api.hpp"
#include "host/api/handlers.hpp"
#include "host/api/json_members.hpp"
#include "host/api/openapi.hpp"
#include "host/events/service.hpp"
#include "host/plugin_loader/plugin_catalog.hpp"
#include "lib/metrics/metrics.hpp"

namespace muster::api {
namespace {

using fleet::Fleet;
using fleet::Now;

// Says that the process lives, and nothing more: a load balancer must not kill a host that drains.
Answer show_health(const Call&) {
  return json_answer(json::object{{"status", "ok"}});
}

Answer show_readiness(const Call& call) {
  const Services& services = services_of(call);
  const std::string state = services.state();
  if (state != "ready") return Failure{"NotReady", "the host is " + state};
  if (!services.fleet) return Failure{"NotReady", services.problem};
  const store::Health store = services.fleet->store_health();
  if (!store.ok) return Failure{"ReadOnly", store.sentence};
  json::object ready{{"status", "ready"}};
  if (services.role) ready["role"] = services.role();
  return json_answer(ready);
}

Answer list_hosts(const Call& call) {
  const Services& services = services_of(call);
  if (!services.hosts) return json_answer(json::object{{"hosts", json::array()}});
  auto hosts = services.hosts();
  if (!hosts) return to_failure(hosts.error());
  return json_answer(json::object{{"hosts", std::move(*hosts)}});
}

Answer hand_over(const Call& call) {
  const Services& services = services_of(call);
  if (!services.hand_over)
    return input_error("this host shares its database with no other that could lead");
  services.hand_over();
  return json_answer(json::object());
}

Answer show_metrics(const Call& call) {
  return services_of(call).metrics->text();
}

// -------------------------------------------------------------------------------------------------
// Status

// {"state": "deciding"|"readOnly"|"off", "reason", ...}; `fleet` is null if there is none.
json::object fleet_summary(const Services& services, const Fleet* fleet) {
  if (!fleet) return {{"state", "off"}, {"reason", services.problem}};
  const store::Health health = services.fleet->store_health();
  json::array notices;
  if (!health.damage.empty()) notices.emplace_back(health.damage);
  if (const std::string notice = services.store ? services.store->notice() : ""; !notice.empty())
    notices.emplace_back(notice);
  if (!health.ok)
    return {{"state", "readOnly"},
            {"reason", health.sentence},
            {"since", format_time(health.failing_since.value_or(Time{}))},
            {"storeNotices", std::move(notices)}};
  std::int64_t pools = 0, workers = 0;
  std::map<std::string, std::int64_t> verdicts;
  for (const fleet::Pool& pool : fleet->pools()) {
    if (pool.removed()) continue;
    ++pools;
    workers += pool.totals.workers;
    ++verdicts[name_of(pool.verdict.kind)];
  }
  json::object summary{{"state", "deciding"}, {"pools", pools}, {"workers", workers}};
  summary["verdicts"] = codec::to_value(verdicts);
  summary["storeNotices"] = std::move(notices);
  if (const auto status = services.configuration_status())
    summary["workerConfigurations"] = pools::to_json(*status);
  if (const auto sources = services.demand_status(); !sources.empty())
    summary["demand"] = demand::to_json(sources);
  return summary;
}

Answer status_of_host(const Services& services, const Fleet* fleet) {
  json::object document = services.status_document();
  document["fleet"] = fleet_summary(services, fleet);
  // As /readyz has it.
  const json::value* state = document.if_contains("state");
  if (state && *state == "ready" && document.at("fleet").as_object().at("state") != "deciding")
    document["state"] = "notReady";
  if (services.store) document["rowsSetAside"] = services.store->set_aside().size();
  if (services.events) document["events"] = services.events->status_json();
  return json_answer(document);
}

void show_status(const CallPtr& call) {
  if (!call->host().fleet) return call->finish(status_of_host(services_of(*call), nullptr));
  read_fleet(
      call, [call](const Fleet& fleet, Now) { return status_of_host(services_of(*call), &fleet); });
}

// -------------------------------------------------------------------------------------------------
// Plugins

// With the folders that they come from: what is dropped into the last one wins.
Answer list_plugins(const Call& call) {
  json::value document = codec::to_value(services_of(call).plugins->list());
  json::array folders;
  for (const auto& folder : services_of(call).plugin_folders())
    folders.emplace_back(folder.string());
  document.as_object()["pluginFolders"] = std::move(folders);
  return json_answer(document);
}

Answer show_plugin_instance(const Call& call) {
  const std::string& id = call.parameter("instanceId");
  const auto record = services_of(call).plugins->record(id);
  if (!record) return not_found("there is no plugin instance " + id + "; see: muster plugin list");
  return json_answer(json::object{{"instanceId", id},
                                  {"methods", codec::to_value(record->times())},
                                  {"log", codec::to_value(record->log())}});
}

Answer rescan_plugins(const Call& call) {
  services_of(call).plugins->rescan();
  return list_plugins(call);
}

Answer roll_back_plugin(const Call& call) {
  const auto done = services_of(call).plugins->rollback(call.parameter("pluginId"));
  return done ? list_plugins(call) : to_failure(done.error());
}

// -------------------------------------------------------------------------------------------------
// The API itself

Answer show_operations(const Call&) {
  static const std::string document =
      json::write(json::object{{"openapi", base + "/openapi.json"},
                               {"operations", list_operations(endpoints())}}) +
      "\n";
  return document;
}

Answer show_openapi(const Call&) {
  static const std::string document = json::write_pretty(openapi_document(endpoints()));
  return document;
}

}  // namespace

std::vector<Endpoint> host_endpoints() {
  return {
      {.name = "health",
       .method = "GET",
       .path = "/healthz",
       .scopes = open_to_all("load balancers have no credentials"),
       .handler = show_health,
       .category = "host",
       .described = false,
       .title = "Whether the process lives"},
      {.name = "readiness",
       .method = "GET",
       .path = "/readyz",
       .scopes = open_to_all("load balancers have no credentials"),
       .handler = show_readiness,
       .category = "host",
       .described = false,
       .title = "Whether the host can do its work"},
      {.name = "metrics",
       .method = "GET",
       .path = "/metrics",
       .scopes = all_unless_open({"muster:get:metrics"}),
       .handler = OnWorkerThread{show_metrics},
       .content_type = metrics::Metrics::content_type,
       .category = "host",
       .described = false,
       .title = "Numbers for Prometheus"},
      {.name = "listOperationsWithoutSlash",
       .method = "GET",
       .path = base,
       .scopes = open_to_all("describes the API and tells nothing of the fleet"),
       .handler = show_operations,
       .category = "host",
       .described = false,
       .title = "What there is"},
      {.name = "listOperations",
       .method = "GET",
       .path = base + "/",
       .scopes = open_to_all("describes the API and tells nothing of the fleet"),
       .handler = show_operations,
       .output = "Operations",
       .category = "host",
       .title = "Every path of this API and the scope it wants"},
      {.name = "openapi",
       .method = "GET",
       .path = base + "/openapi.json",
       .scopes = open_to_all("describes the API and tells nothing of the fleet"),
       .handler = show_openapi,
       .output = "OpenApiDocument",
       .category = "host",
       .title = "This document"},
      {.name = "status",
       .method = "GET",
       .path = base + "/status",
       .scopes = all_of({"muster:get:status"}),
       .handler = show_status,
       .output = "Status",
       .category = "host",
       .title = "The host, its plugins and the fleet in short"},
      {.name = "listHosts",
       .method = "GET",
       .path = base + "/hosts",
       .scopes = all_of({"muster:get:hosts"}),
       .handler = OnWorkerThread{list_hosts},
       .output = "Hosts",
       .category = "host",
       .title = "The hosts that share this one's database, and which of them leads"},
      {.name = "handOver",
       .method = "POST",
       .path = base + "/hosts/hand-over",
       .scopes = all_of({"muster:hand-over"}),
       .handler = OnWorkerThread{hand_over},
       .audit = audited(),
       .output = "Empty",
       .errors = {bad_input},
       .category = "host",
       .title = "Let another host lead"},
      {.name = "listPlugins",
       .method = "GET",
       .path = base + "/plugins",
       .scopes = all_of({"muster:get:plugins"}),
       .handler = list_plugins,
       .output = "Plugins",
       .category = "plugins",
       .title = "Every plugin, its versions and instances, and why one is refused"},
      {.name = "getPluginInstance",
       .method = "GET",
       .path = base + "/plugin-instances/{instanceId}",
       .scopes = all_of({"muster:get:plugins"}),
       .handler = show_plugin_instance,
       .output = "PluginInstance",
       .errors = {missing},
       .category = "plugins",
       .title = "How long an instance's calls take, and the newest lines of its log",
       .description = "Quantiles are of the newest 500 calls of a method; the log has the newest "
                      "200 lines. Both begin with the start of the host."},
      {.name = "rescanPlugins",
       .method = "POST",
       .path = base + "/plugins/rescan",
       .scopes = all_of({"muster:rescan-plugins"}),
       .handler = OnWorkerThread{rescan_plugins},
       .audit = audited(),
       .output = "Plugins",
       .category = "plugins",
       .title = "Look into the plugin folders now"},
      {.name = "rollBackPlugin",
       .method = "POST",
       .path = base + "/plugins/{pluginId}/rollback",
       .scopes = all_of({"muster:rollback-plugin:<pluginId>"}),
       .handler = OnWorkerThread{roll_back_plugin},
       .audit = audited(),
       .output = "Plugins",
       .errors = {bad_input, missing},
       .category = "plugins",
       .title = "Back to the version before, until another one is dropped in"},
  };
}

}  // namespace muster::api
