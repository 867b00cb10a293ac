// The HTTP/1.1 server: a few threads with an event loop each, connections spread over them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <muster/error.hpp>

#include "lib/base/clock.hpp"
#include "lib/base/log.hpp"
#include "lib/base/networks.hpp"
#include "lib/http/body_budget.hpp"
#include "lib/http/peer_limits.hpp"
#include "lib/http/request_parser.hpp"
#include "lib/http/router.hpp"
#include "lib/http/tls_context.hpp"

namespace muster::metrics {
class Page;
}

namespace muster::http {

struct ServerSettings {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free one
  std::uint32_t threads = 2;
  std::uint32_t max_connections = 4096;
  std::size_t most_routes = 0;  // of a router that use() gets later, if that has more
  RequestLimits limits;
  std::chrono::milliseconds header_timeout = std::chrono::seconds(10);
  std::chrono::milliseconds body_timeout = std::chrono::seconds(60);
  std::chrono::milliseconds write_timeout = std::chrono::seconds(60);
  std::chrono::milliseconds idle_timeout = std::chrono::seconds(75);
  bool access_log = true;
  PeerSettings peers;
  BodyBudgetSettings bodies;
  Networks trusted_proxies = {};  // those whose X-Forwarded-For is believed
  std::optional<TlsFiles> tls;    // empty: plain HTTP
};

// THREADS: every method may be called from any thread but those of the server itself.
class Server {
 public:
  static constexpr std::string_view address_in_use = "addressInUse";

  // Listens; connections wait in the kernel until start(). `router` and `clock` must outlive the
  // server. Fails with code `address_in_use` and a sentence that names who has the address, or
  // because the certificate cannot be used.
  static Result<std::unique_ptr<Server>> listen(const ServerSettings& settings,
                                                const Router& router, const Clock& clock, Log log);
  // As stop().
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void start();

  // Requests that begin from now on go to this router; those that are under way stay with the old
  // one. Both outlive the server.
  void use(const Router& router);

  // Accepts nothing more, closes idle connections at once and others after the answer they wait
  // for; then calls `drained`, once, from a thread of the server. Does not wait.
  void drain(std::function<void()> drained);

  // Closes everything at once and ends the threads. Answers that come later go nowhere.
  void stop();

  // What new connections are shown from now on; those that are open keep what they have. On failure
  // nothing changes. Only for a server that speaks TLS.
  Result<void> replace_certificate(const TlsFiles& files);
  // When the one in use expires; nothing without TLS.
  std::optional<std::chrono::sys_seconds> certificate_expires() const;

  // Those whose X-Forwarded-For is believed from the next request on.
  void trust_proxies(Networks proxies);

  // Requests by route, times, connections, refusals, bytes. Only after start().
  void write_metrics(metrics::Page& page) const;

  std::uint16_t port() const;                 // the real one
  std::size_t connections() const;            // now open
  std::uint64_t buffered_body_bytes() const;  // of requests that are read or answered now

  // Calls `alive` from a thread of the server as soon as every one of its threads has shown that it
  // still runs: what systemd's watchdog is told rests on it.
  void prove_alive(std::function<void()> alive);

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::http
