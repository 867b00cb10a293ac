#include "host/api/routes.hpp"

#include <muster/codec.hpp>

#include "host/api/client_routes.hpp"
#include "host/api/dashboard.hpp"
#include "host/api/openapi.hpp"
#include "host/wiring/host_plugins.hpp"
#include "lib/http/answer.hpp"

namespace muster {
namespace {

using http::Access;
using http::later;
using http::now;
using http::Request;
using http::Response;

constexpr const char* api_path = "/api/muster/v1";

// Says that the process lives, and nothing more: a load balancer must not kill a host that drains.
Response health(const Request&) {
  return http::json_answer(json::object{{"status", "ok"}});
}

Response readiness(const Request& request, const RouteDependencies& asked) {
  const HostState state = asked.status.get()->state;
  if (state == HostState::ready && !asked.fleet.fleet)
    return http::error_answer(request, 503, "NotReady", asked.fleet.problem);
  if (state == HostState::ready) {
    const store::Health store = asked.fleet.fleet->fleet().store_health();
    if (!store.ok) return http::error_answer(request, 503, "ReadOnly", store.sentence);
    return http::json_answer(json::object{{"status", "ready"}});
  }
  return http::error_answer(request, 503, "NotReady",
                            "the host is " + std::string(to_string(state)));
}

json::object summary_of_plugins(const RouteDependencies& asked) {
  return plugin_summary(*asked.status.get()->configuration, asked.plugins.list());
}

// With the folders that they come from: what is dropped into the last one wins.
Response list_plugins(const RouteDependencies& asked) {
  json::value document = codec::to_value(asked.plugins.list());
  json::array folders;
  for (const auto& folder : asked.status.get()->configuration->plugin_folders)
    folders.emplace_back(folder.string());
  document.as_object()["pluginFolders"] = std::move(folders);
  return http::json_answer(document);
}

Response roll_back(const Request& request, const RouteDependencies& asked) {
  const auto done = asked.plugins.rollback(request.path_parameter("pluginId"));
  return done ? list_plugins(asked) : http::error_answer(request, done.error());
}

void show_status(const RouteDependencies& asked, const http::Reply& reply) {
  const auto answer = [asked, reply](const fleet::Fleet* fleet) {
    json::object document =
        status_document(*asked.status.get(), asked.clock, summary_of_plugins(asked));
    document["fleet"] = fleet_summary(asked.fleet, fleet);
    if (asked.fleet.fleet) document["events"] = asked.fleet.fleet->events().status_json();
    reply(http::json_answer(document));
  };
  if (!asked.fleet.fleet) return answer(nullptr);
  asked.fleet.fleet->fleet().look(
      [answer](const fleet::Fleet& fleet, fleet::Now) { answer(&fleet); });
}

std::string scope_of(const std::string& method, const std::string& pattern) {
  for (const auth::RouteScope& known : route_scopes())
    if (known.method == method && known.route == pattern) return std::string(known.scope);
  return method == "GET" ? "muster:get" : "muster:admin";
}

// What there is, for whoever looks around; the OpenAPI document says the same and more.
Response list_operations(const http::Router& router) {
  json::array operations;
  for (std::size_t route = 0; route < router.size(); ++route) {
    std::string path = router.pattern(route);
    if (!path.starts_with(api::base_path)) continue;
    if (const auto star = path.find("{*"); star != std::string::npos) path.erase(star + 1, 1);
    json::object operation{{"method", router.method(route)}, {"path", path}};
    if (router.access(route) == Access::guarded)
      if (std::string scope = scope_of(router.method(route), router.pattern(route)); !scope.empty())
        operation["scope"] = std::move(scope);
    operations.push_back(std::move(operation));
  }
  return http::json_answer(json::object{{"openapi", std::string(api::base_path) + "openapi.json"},
                                        {"operations", std::move(operations)}});
}

}  // namespace

void add_metrics_route(http::Router& router, http::WorkerThreads& workers,
                       const metrics::Metrics& metrics, bool guarded) {
  router.add("GET", "/metrics",
             later(workers,
                   [&metrics](const Request&) {
                     return Response{
                         200,
                         {{"Content-Type", std::string(metrics::Metrics::content_type)}},
                         metrics.text()};
                   }),
             guarded ? Access::guarded : Access::open);
}

void add_routes(http::Router& router, const RouteDependencies& asked) {
  dashboard::add_routes(router);
  router.add("GET", "/healthz", now(health), Access::open);
  router.add("GET", "/readyz",
             now([asked](const Request& request) { return readiness(request, asked); }),
             Access::open);
  for (const std::string& path : {std::string(api_path), std::string(api::base_path)})
    router.add("GET", path, now([&router](const Request&) { return list_operations(router); }),
               Access::open);
  router.add("GET", std::string(api::base_path) + "openapi.json", now([](const Request&) {
               return Response{200, {{"Content-Type", "application/json"}}, api::openapi_text()};
             }),
             Access::open);
  router.add("GET", std::string(api::base_path) + "status",
             [asked](Request&&, const http::Reply& reply) { show_status(asked, reply); });
  api::add_fleet_paths(router, asked.workers, asked.fleet);
  router.add("GET", "/api/muster/v1/plugins",
             now([asked](const Request&) { return list_plugins(asked); }));
  router.add("POST", "/api/muster/v1/plugins/rescan", later(asked.workers, [asked](const Request&) {
               asked.plugins.rescan();
               return list_plugins(asked);
             }));
  router.add(
      "POST", "/api/muster/v1/plugins/{pluginId}/rollback",
      later(asked.workers, [asked](const Request& request) { return roll_back(request, asked); }));
}

}  // namespace muster
