// Plain TCP.
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "host/http/transport.hpp"

namespace muster::http {

std::unique_ptr<Transport> tcp_transport(boost::asio::ip::tcp::socket socket);

}  // namespace muster::http
