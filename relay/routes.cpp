#include "relay/routes.hpp"

#include "lib/http/answer.hpp"
#include "lib/metrics/metrics.hpp"
#include "relay/readiness.hpp"
#include "relay/relay.hpp"
#include "relay/sender.hpp"

namespace muster::relay {
namespace {

using http::Request;
using http::Response;

Response nothing_here(const Request& request) {
  return http::error_answer(
      request, 404, "ResourceNotFound",
      "there is nothing here; machines POST to " + std::string(register_path));
}

// To everybody else there is nothing.
bool is_operator(const Request& request, const Relay& relay) {
  const auto settings = relay.settings();
  const auto sender = sender_of(request, settings->trusted_proxies);
  return sender && settings->operator_networks.contain(*sender);
}

Response readiness_answer(Readiness& readiness) {
  const Readiness::Seen seen = readiness.look();
  return http::json_answer(seen.document, seen.ready ? 200 : 503);
}

}  // namespace

void add_routes(http::Router& router, Relay& relay, Readiness& readiness,
                http::WorkerThreads& workers, const metrics::Metrics& metrics) {
  using http::Access;
  router.add(
      "POST", std::string(register_path),
      [&relay](Request&& request, const http::Reply& reply) {
        relay.answer(std::move(request), reply);
      },
      Access::open);
  router.add("GET", "/healthz", http::now([](const Request&) {
               return Response{200, {{"Content-Type", "text/plain"}}, "ok\n"};
             }),
             Access::open);
  router.add("GET", "/metrics", http::now([&](const Request& request) {
               if (!is_operator(request, relay)) return nothing_here(request);
               return Response{200,
                               {{"Content-Type", std::string(metrics::Metrics::content_type)}},
                               metrics.text()};
             }),
             Access::open);
  const http::Handler look =
      http::later(workers, [&readiness](const Request&) { return readiness_answer(readiness); });
  router.add(
      "GET", "/readyz",
      [&relay, look](Request&& request, const http::Reply& reply) {
        if (!is_operator(request, relay)) return reply(nothing_here(request));
        look(std::move(request), reply);
      },
      Access::open);
  router.fallback("/", http::now(nothing_here));
}

}  // namespace muster::relay
