#include "lib/http/server.hpp"

#include <algorithm>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/http/lane.hpp"
#include "lib/http/port_owner.hpp"
#include "lib/http/tcp_transport.hpp"
#include "lib/http/tls_transport.hpp"
#include "lib/http/traffic_metrics.hpp"

namespace muster::http {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;

namespace {

// For peers that get no connection; made without one.
std::string refusal(int status, std::string_view code, std::string_view message) {
  std::string body = "{\"code\":\"";
  body.append(code).append("\",\"message\":\"").append(message).append("\"}\n");
  std::string answer = "HTTP/1.1 " + std::to_string(status) + " ";
  answer += reason_phrase(status);
  answer += "\r\nConnection: close\r\nRetry-After: 1\r\nContent-Type: application/json";
  return answer + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

PeerAddress bytes_of(const asio::ip::address& address) {
  PeerAddress bytes{};
  const auto v6 = address.is_v4() ? asio::ip::make_address_v6(asio::ip::v4_mapped, address.to_v4())
                                  : address.to_v6();
  const auto written = v6.to_bytes();
  std::copy(written.begin(), written.end(), bytes.begin());
  return bytes;
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
      admit(lane, std::move(socket));
      accept();
    });
  }

  void admit(Lane& lane, tcp::socket socket) {
    error_code gone;
    const auto endpoint = socket.remote_endpoint(gone);
    if (gone) return;
    Traffic& traffic = lanes.front()->traffic;  // this runs on its thread
    if (shared->open >= shared->settings.max_connections) {
      traffic.refuse(Refusal::connections);
      return turn_away(
          std::move(socket),
          refusal(503, "ServiceUnavailable", "the host has too many connections; try again later"));
    }
    const PeerAddress address = bytes_of(endpoint.address());
    auto seat =
        shared->peers.admit(address, shared->clock.steady(), shared->proxies.contain(address));
    if (seat) return hand_over(lane, std::move(socket), std::move(seat));
    traffic.refuse(Refusal::peer_connections);
    turn_away(std::move(socket),
              refusal(429, "TooManyRequests",
                      "this address has too many connections; close some of them"));
  }

  // From the first lane's thread to the one whose event loop the socket belongs to.
  void hand_over(Lane& lane, tcp::socket socket, std::unique_ptr<Seat> seat) {
    ++shared->open;
    struct Handed {
      tcp::socket socket;
      std::unique_ptr<Seat> seat;
    };
    auto handed = std::make_shared<Handed>(Handed{std::move(socket), std::move(seat)});
    asio::post(lane.io, [lane = lane.weak_from_this(), handed] {
      const auto there = lane.lock();
      if (!there) return;
      auto tls = there->shared->tls.get();
      there->adopt(tls ? tls_transport(std::move(handed->socket), std::move(tls))
                       : tcp_transport(std::move(handed->socket)),
                   std::move(handed->seat));
    });
  }

  // What a peer that wants TLS could not read is not said.
  void turn_away(tcp::socket socket, const std::string& answer) {
    if (shared->settings.tls) return;
    error_code ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(answer), ignored);
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
  impl->shared = std::make_shared<Shared>(settings, router, clock, std::move(log));
  if (settings.tls) {
    auto tls = TlsContext::load(*settings.tls);
    if (!tls) return tls.error();
    impl->shared->tls.set(std::move(*tls));
  }
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

void Server::use(const Router& router) {
  impl_->shared->router = &router;
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

Result<void> Server::replace_certificate(const TlsFiles& files) {
  auto loaded = TlsContext::load(files);
  if (!loaded) return loaded.error();
  impl_->shared->tls.set(std::move(*loaded));
  return {};
}

std::optional<std::chrono::sys_seconds> Server::certificate_expires() const {
  const auto tls = impl_->shared->tls.get();
  return tls ? std::optional(tls->expires()) : std::nullopt;
}

void Server::write_metrics(metrics::Page& page) const {
  write_traffic(page, *impl_->shared, impl_->lanes);
}

void Server::trust_proxies(Networks proxies) {
  impl_->shared->proxies.set(std::move(proxies));
}

std::uint64_t Server::buffered_body_bytes() const {
  return impl_->shared->bodies->used();
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
