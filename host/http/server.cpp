#include "host/http/server.hpp"

#include <cstdio>
#include <sys/random.h>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "host/http/lane.hpp"
#include "host/http/port_owner.hpp"
#include "host/http/tcp_transport.hpp"

namespace muster::http {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view too_many =
    "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n"
    "Content-Type: application/json\r\nContent-Length: 93\r\n\r\n"
    "{\"code\":\"ServiceUnavailable\",\"message\":\"the host has too many connections; try again "
    "later\"}\n";

std::string random_prefix() {
  std::uint32_t number = 0;
  [[maybe_unused]] const auto got = ::getrandom(&number, sizeof number, 0);
  char text[16];
  std::snprintf(text, sizeof text, "%08x", number);
  return text;
}

}  // namespace

struct Server::Impl {
  std::shared_ptr<Shared> shared;
  std::vector<std::shared_ptr<Lane>> lanes;
  std::unique_ptr<tcp::acceptor> acceptor;  // on the first lane
  std::unique_ptr<asio::steady_timer> pause;
  std::uint16_t port = 0;
  std::size_t next = 0;
  bool started = false;

  void accept() {
    Lane& lane = *lanes[next++ % lanes.size()];
    acceptor->async_accept(lane.io, [this, &lane](error_code error, tcp::socket socket) {
      if (!acceptor->is_open()) return;
      if (error) return pause_after(error);
      if (shared->open >= shared->settings.max_connections)
        turn_away(std::move(socket));
      else
        hand_over(lane, std::move(socket));
      accept();
    });
  }

  // From the first lane's thread to the one whose event loop the socket belongs to.
  void hand_over(Lane& lane, tcp::socket socket) {
    ++shared->open;
    auto handed = std::make_shared<tcp::socket>(std::move(socket));
    asio::post(lane.io, [lane = lane.weak_from_this(), handed] {
      if (const auto there = lane.lock()) there->adopt(tcp_transport(std::move(*handed)));
    });
  }

  void turn_away(tcp::socket socket) {
    error_code ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(too_many.data(), too_many.size()), ignored);
    socket.shutdown(tcp::socket::shutdown_send, ignored);
  }

  // Out of descriptors or memory: trying again at once would only burn the processor.
  void pause_after(error_code error) {
    shared->log.warning("no connection can be accepted for a moment",
                        {{"reason", error.message()}});
    pause->expires_after(100ms);
    pause->async_wait([this](error_code cancelled) {
      if (!cancelled && acceptor->is_open()) accept();
    });
  }

  void stop_accepting() {
    error_code ignored;
    acceptor->close(ignored);
    pause->cancel();
    shared->accepting = false;
  }
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  stop();
}

Result<std::unique_ptr<Server>> Server::listen(const ServerSettings& settings, const Router& router,
                                               const Clock& clock, Log log) {
  auto impl = std::make_unique<Impl>();
  impl->shared = std::shared_ptr<Shared>(
      new Shared{settings, router, clock, std::move(log), random_prefix(), {}, {true}, {}, {}, {}});
  for (std::uint32_t i = 0; i < std::max(1u, settings.threads); ++i)
    impl->lanes.push_back(std::make_shared<Lane>(i, impl->shared));
  error_code error;
  const auto address = asio::ip::make_address(settings.address, error);
  if (error) return Error::config("\"" + settings.address + "\" is not an IP address");
  const tcp::endpoint endpoint(address, settings.port);
  asio::io_context& io = impl->lanes.front()->io;
  impl->acceptor = std::make_unique<tcp::acceptor>(io);
  impl->pause = std::make_unique<asio::steady_timer>(io);
  impl->acceptor->open(endpoint.protocol(), error);
  // So that a restart need not wait for old connections; a living listener is refused all the same.
  if (!error) impl->acceptor->set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) impl->acceptor->bind(endpoint, error);
  if (!error) impl->acceptor->listen(asio::socket_base::max_listen_connections, error);
  if (error == asio::error::address_in_use)
    return Error::config("cannot listen on " + settings.address + " port " +
                         std::to_string(settings.port) + ": it is taken by " +
                         owner_of_port(settings.port) +
                         "; stop that one, or write another port in the key `listen`")
        .with_code(std::string(address_in_use));
  if (error)
    return Error::config("cannot listen on " + settings.address + " port " +
                         std::to_string(settings.port) + ": " + error.message() +
                         "; correct the key `listen`");
  impl->port = impl->acceptor->local_endpoint().port();
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

void Server::start() {
  impl_->started = true;
  asio::post(impl_->lanes.front()->io, [impl = impl_.get()] { impl->accept(); });
  for (const auto& lane : impl_->lanes) lane->start();
}

void Server::drain(std::function<void()> drained) {
  impl_->shared->on_drained = std::move(drained);
  impl_->shared->draining = true;
  asio::post(impl_->lanes.front()->io, [impl = impl_.get()] {
    impl->stop_accepting();
    for (const auto& lane : impl->lanes)
      asio::post(lane->io, [there = lane.get()] { there->drain(); });
    impl->shared->tell_if_drained();
  });
}

void Server::stop() {
  if (!impl_ || !impl_->started) return;
  impl_->started = false;
  asio::post(impl_->lanes.front()->io, [impl = impl_.get()] { impl->stop_accepting(); });
  for (const auto& lane : impl_->lanes)
    asio::post(lane->io, [there = lane.get()] { there->stop(); });
  for (const auto& lane : impl_->lanes) lane->join();
}

std::uint16_t Server::port() const {
  return impl_->port;
}

std::size_t Server::connections() const {
  return impl_->shared->open;
}

void Server::prove_alive(std::function<void()> alive) {
  struct Proof {
    std::atomic<std::size_t> missing;
    std::function<void()> alive;
  };
  const auto proof = std::shared_ptr<Proof>(new Proof{impl_->lanes.size(), std::move(alive)});
  for (const auto& lane : impl_->lanes)
    asio::post(lane->io, [proof] {
      if (--proof->missing == 0) proof->alive();
    });
}

}  // namespace muster::http
