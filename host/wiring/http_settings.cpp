#include "host/wiring/http_settings.hpp"

#include <algorithm>

namespace muster {

// The configuration was checked, so each of them is a network.
Networks trusted_proxies(const config::HostConfiguration& configuration) {
  auto proxies = Networks::parse(configuration.auth.trusted_proxies);
  return proxies ? std::move(*proxies) : Networks();
}

http::ServerSettings server_settings(const config::HostConfiguration& configuration) {
  const config::HttpSettings& http = configuration.http;
  http::ServerSettings settings;
  settings.address = configuration.listen.address;
  settings.port = configuration.listen.port;
  settings.threads = http.threads;
  settings.max_connections = http.max_connections;
  settings.limits = {http.max_header_bytes, http.max_body_bytes, http.max_open_body_bytes};
  // One body that is allowed always has room.
  settings.bodies.of_peer = std::max(http.max_buffered_body_bytes_per_peer, http.max_body_bytes);
  settings.bodies.of_all = std::max(http.max_buffered_body_bytes, settings.bodies.of_peer);
  settings.trusted_proxies = trusted_proxies(configuration);
  settings.header_timeout = http.header_timeout;
  settings.body_timeout = http.body_timeout;
  settings.write_timeout = http.write_timeout;
  settings.idle_timeout = http.idle_timeout;
  settings.access_log = http.access_log;
  settings.peers = {http.max_connections_per_peer, http.requests_per_second_per_peer,
                    http.request_burst_per_peer, http.limit_loopback};
  if (http.tls) settings.tls = http::TlsFiles{http.tls->certificate_file, http.tls->key_file};
  return settings;
}

std::string url_of(config::ListenAddress listen, std::uint16_t port, bool tls) {
  if (listen.address == "0.0.0.0") listen.address = "127.0.0.1";
  if (listen.address == "::") listen.address = "::1";
  listen.port = port;
  return (tls ? "https://" : "http://") + to_string(listen);
}

}  // namespace muster
