// The server's numbers, added up over its lanes.
#include "lib/http/traffic_metrics.hpp"

#include "lib/http/lane.hpp"
#include "lib/metrics/metrics.hpp"

namespace muster::http {
namespace {

template <class Number>
double sum(const std::vector<std::shared_ptr<Lane>>& lanes, Number number) {
  std::uint64_t all = 0;
  for (const auto& lane : lanes) all += number(lane->traffic);
  return static_cast<double>(all);
}

void write_route(metrics::Page& page, const std::vector<std::shared_ptr<Lane>>& lanes,
                 std::size_t route, const std::string& pattern, const std::string& method) {
  const metrics::Labels labels{{"route", pattern}, {"method", method}};
  bool asked = false;
  for (std::size_t of = 0; of < 5; ++of) {
    const double count = sum(
        lanes, [&](const Traffic& traffic) { return traffic.routes[route].by_class[of].value(); });
    if (count == 0) continue;
    asked = true;
    metrics::Labels with_status = labels;
    with_status.emplace_back("status", std::to_string(of + 1) + "xx");
    page.counter("muster_http_requests_total", "Requests that were answered, by class of status",
                 count, std::move(with_status));
  }
  if (!asked) return;
  metrics::Histogram times;
  for (const std::uint32_t bound : RouteTraffic::bounds) times.bounds.push_back(bound / 1e6);
  for (std::size_t i = 0; i <= times.bounds.size(); ++i)
    times.counts.push_back(static_cast<std::uint64_t>(sum(
        lanes, [&](const Traffic& traffic) { return traffic.routes[route].by_time[i].value(); })));
  times.sum =
      sum(lanes,
          [&](const Traffic& traffic) { return traffic.routes[route].microseconds.value(); }) /
      1e6;
  page.histogram("muster_http_request_duration_seconds",
                 "Time from the last byte of a request to the first of its answer", times, labels);
}

}  // namespace

const char* to_string(Refusal refusal) {
  static constexpr std::array<const char*, refusals> names{
      "connections",    "connectionsPerPeer",    "requestsPerPeer", "headerBytes", "bodyBytes",
      "headerTimeout",  "bodyTimeout",           "writeTimeout",    "malformed",   "tlsHandshake",
      "plainTextToTls", "bufferedBodiesPerPeer", "bufferedBodies"};
  return names[static_cast<std::size_t>(refusal)];
}

void write_traffic(metrics::Page& page, const Shared& shared,
                   const std::vector<std::shared_ptr<Lane>>& lanes) {
  const std::size_t routes = lanes.front()->traffic.routes.size();
  const Router& router = *shared.router;
  for (std::size_t route = 0; route + 1 < routes && route < router.size(); ++route)
    write_route(page, lanes, route, router.pattern(route), router.method(route));
  if (routes > 0) write_route(page, lanes, routes - 1, "(none)", "(any)");
  page.gauge("muster_http_open_connections", "Connections that are open now",
             static_cast<double>(shared.open));
  page.gauge("muster_http_open_streams", "Answers without an end that are being sent now",
             sum(lanes, [](const Traffic& traffic) { return traffic.streams.load(); }));
  page.gauge("muster_http_known_peers", "Peers whose limits are remembered",
             static_cast<double>(shared.peers.known()));
  page.counter("muster_http_connections_total", "Connections that were accepted",
               sum(lanes, [](const Traffic& traffic) { return traffic.accepted.value(); }));
  page.counter("muster_http_received_bytes_total", "Bytes of requests",
               sum(lanes, [](const Traffic& traffic) { return traffic.received_bytes.value(); }));
  page.counter("muster_http_sent_bytes_total", "Bytes of answers",
               sum(lanes, [](const Traffic& traffic) { return traffic.sent_bytes.value(); }));
  for (std::size_t i = 0; i < refusals; ++i)
    page.counter("muster_http_refused_total", "What limits and checks turned away",
                 sum(lanes, [&](const Traffic& traffic) { return traffic.refused[i].value(); }),
                 {{"reason", to_string(static_cast<Refusal>(i))}});
  if (const auto tls = shared.tls.get())
    page.gauge("muster_http_certificate_expires_seconds",
               "When the certificate in use expires, in seconds since 1970",
               static_cast<double>(tls->expires().time_since_epoch().count()));
}

}  // namespace muster::http
