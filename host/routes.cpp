#include "host/routes.hpp"

#include <muster/codec.hpp>

#include "host/http/answer.hpp"
#include "host/plugins_of_host.hpp"

namespace muster {
namespace {

using http::Access;
using http::later;
using http::now;
using http::Request;
using http::Response;

// Says that the process lives, and nothing more: a load balancer must not kill a host that drains.
Response health(const Request&) {
  return http::json_answer(json::object{{"status", "ok"}});
}

Response readiness(const Request& request, const Asked& asked) {
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

json::object summary_of_plugins(const Asked& asked) {
  return plugin_summary(*asked.status.get()->configuration, asked.plugins.list());
}

// With the folders that they come from: what is dropped into the last one wins.
Response list_plugins(const Asked& asked) {
  json::value document = codec::to_value(asked.plugins.list());
  json::array folders;
  for (const auto& folder : asked.status.get()->configuration->plugin_folders)
    folders.emplace_back(folder.string());
  document.as_object()["pluginFolders"] = std::move(folders);
  return http::json_answer(document);
}

Response roll_back(const Request& request, const Asked& asked) {
  const auto done = asked.plugins.rollback(request.path_parameter("pluginId"));
  return done ? list_plugins(asked) : http::error_answer(request, done.error());
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

void add_routes(http::Router& router, const Asked& asked) {
  router.add("GET", "/healthz", now(health), Access::open);
  router.add("GET", "/readyz",
             now([asked](const Request& request) { return readiness(request, asked); }),
             Access::open);
  router.add("GET", "/api/muster/v1/status", later(asked.workers, [asked](const Request&) {
               json::object document =
                   status_document(*asked.status.get(), asked.clock, summary_of_plugins(asked));
               document["fleet"] = fleet_summary(asked.fleet);
               return http::json_answer(document);
             }));
  add_fleet_routes(router, asked.workers, asked.fleet);
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
