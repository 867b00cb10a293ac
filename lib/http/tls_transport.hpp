// TLS over TCP.
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "lib/http/tls_context.hpp"
#include "lib/http/transport.hpp"

namespace muster::http {

// A peer that does not begin with a handshake is served in plain text, and secure() says so: the
// user above can tell it in words that it must speak TLS.
std::unique_ptr<Transport> tls_transport(boost::asio::ip::tcp::socket socket,
                                         std::shared_ptr<const TlsContext> context);

}  // namespace muster::http
