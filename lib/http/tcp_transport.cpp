#include "lib/http/tcp_transport.hpp"

#include <array>

#include <boost/asio/write.hpp>

namespace muster::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

class TcpTransport final : public Transport {
 public:
  explicit TcpTransport(asio::ip::tcp::socket socket)
      : socket_(std::move(socket)), peer_(prepare_socket(socket_)) {}

  void read(char* buffer, std::size_t size, std::shared_ptr<TransportUser> user) override {
    socket_.async_read_some(asio::buffer(buffer, size),
                            [user = std::move(user)](error_code error, std::size_t bytes) {
                              user->on_read(!error, bytes);
                            });
  }

  void write(std::string_view head, std::string_view body,
             std::shared_ptr<TransportUser> user) override {
    const std::array<asio::const_buffer, 2> parts{asio::buffer(head.data(), head.size()),
                                                  asio::buffer(body.data(), body.size())};
    asio::async_write(socket_, parts, [user = std::move(user)](error_code error, std::size_t) {
      user->on_written(!error);
    });
  }

  void finish_writing() override {
    error_code ignored;
    socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  }

  void close() override {
    error_code ignored;
    socket_.close(ignored);
  }

  const std::string& peer() const override { return peer_; }
  bool secure() const override { return false; }
  bool in_handshake() const override { return false; }

 private:
  asio::ip::tcp::socket socket_;
  const std::string peer_;
};

}  // namespace

std::string prepare_socket(asio::ip::tcp::socket& socket) {
  error_code error;
  socket.set_option(asio::ip::tcp::no_delay(true), error);
  socket.set_option(asio::socket_base::keep_alive(true), error);  // streams may be quiet for hours
  const auto endpoint = socket.remote_endpoint(error);
  if (error) return {};
  const auto address = endpoint.address();
  return (address.is_v6() ? "[" + address.to_string() + "]" : address.to_string()) + ":" +
         std::to_string(endpoint.port());
}

std::unique_ptr<Transport> tcp_transport(asio::ip::tcp::socket socket) {
  return std::make_unique<TcpTransport>(std::move(socket));
}

}  // namespace muster::http
