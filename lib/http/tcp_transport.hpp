// Plain TCP.
#pragma once

#include <string>

#include <boost/asio/ip/tcp.hpp>

#include "lib/http/transport.hpp"

namespace muster::http {

// Sets what every connection wants, and says whose it is: "127.0.0.1:54321".
std::string prepare_socket(boost::asio::ip::tcp::socket& socket);

std::unique_ptr<Transport> tcp_transport(boost::asio::ip::tcp::socket socket);

}  // namespace muster::http
