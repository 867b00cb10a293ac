#include "host/routes.hpp"

#include "host/http/answer.hpp"

namespace muster {
namespace {

using http::Access;
using http::now;
using http::Request;
using http::Response;

// Says that the process lives, and nothing more: a load balancer must not kill a host that drains.
Response health(const Request&) {
  return http::json_answer(json::object{{"status", "ok"}});
}

Response readiness(const Request& request, const Asked& asked) {
  const HostState state = asked.status.get()->state;
  if (state == HostState::ready) return http::json_answer(json::object{{"status", "ready"}});
  return http::error_answer(request, 503, "NotReady",
                            "the host is " + std::string(to_string(state)));
}

}  // namespace

void add_routes(http::Router& router, const Asked& asked) {
  router.add("GET", "/healthz", now(health), Access::open);
  router.add("GET", "/readyz",
             now([asked](const Request& request) { return readiness(request, asked); }),
             Access::open);
  router.add("GET", "/api/muster/v1/status", now([asked](const Request&) {
               return http::json_answer(
                   status_document(*asked.status.get(), asked.clock, asked.plugin_summary()));
             }));
}

}  // namespace muster
