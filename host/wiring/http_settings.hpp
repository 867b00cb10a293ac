// From the host's configuration to the settings of its HTTP server. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "host/config/host_configuration.hpp"
#include "lib/base/networks.hpp"
#include "lib/http/server.hpp"

namespace muster {

Networks trusted_proxies(const config::HostConfiguration& configuration);
http::ServerSettings server_settings(const config::HostConfiguration& configuration);
// Where clients on this machine find the host: "any address" is reached by loopback.
std::string url_of(config::ListenAddress listen, std::uint16_t port, bool tls);

}  // namespace muster
