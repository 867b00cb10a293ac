// One thread of the server with its event loop and the connections it serves. Private to this
// folder.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/http/peer_limits.hpp"
#include "lib/http/server.hpp"
#include "lib/http/tls_context.hpp"
#include "lib/http/traffic.hpp"

namespace muster::http {

class Connection;
class Transport;

// The proxies that are trusted now. THREADS: any.
class TrustedProxies {
 public:
  void set(Networks proxies);
  // Nothing if there are none, at the cost of reading a flag.
  std::shared_ptr<const Networks> get() const;
  bool contain(const Address& address) const;

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> any_ = false;
  std::shared_ptr<const Networks> proxies_;
};

// What all lanes share. Outlives them.
struct Shared {
  Shared(const ServerSettings& settings, const Router& router, const Clock& clock, Log log);

  const ServerSettings settings;
  std::atomic<const Router*> router;  // for requests that begin now
  const Clock& clock;
  Log log;
  const std::string id_prefix;  // of request ids; differs from start to start
  PeerLimits peers;
  const std::shared_ptr<BodyBudget> bodies;  // requests may outlive the server
  TrustedProxies proxies;
  CurrentTls tls;  // without a context: plain HTTP
  std::atomic<std::size_t> open = 0;
  std::atomic<bool> accepting = true, draining = false;
  std::function<void()> on_drained;  // set before `draining`
  std::atomic<bool> told_drained = false;

  void tell_if_drained();
};

class Lane : public std::enable_shared_from_this<Lane> {
 public:
  Lane(std::size_t number, std::shared_ptr<Shared> shared);

  void start();
  void join();

  // THREADS: from here on, the lane's own only (post to `io`).
  void adopt(std::unique_ptr<Transport> transport, std::unique_ptr<Seat> seat);
  void drain();
  void
  stop();  // closes all; the thread ends when the last handler has run. Nothing is adopted then
  void forget(const std::shared_ptr<Connection>& connection);

  // Until it is forgotten, the connection's stream is pulled at every tick.
  void add_stream(const std::shared_ptr<Connection>& connection);

  const std::string& date();  // the value of the Date header
  std::string next_request_id();
  std::string new_trace_id();  // a UUID

  Traffic traffic;  // written by the lane's thread only

  boost::asio::io_context io{1};
  const std::shared_ptr<Shared> shared;

 private:
  void sweep();
  void tick();

  const std::size_t number_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer sweep_timer_, stream_timer_;
  std::chrono::milliseconds sweep_interval_;
  std::unordered_set<std::shared_ptr<Connection>> connections_, streams_;
  bool ticking_ = false;
  std::uint64_t requests_ = 0, random_ = 0;
  std::chrono::sys_seconds date_second_{};
  std::string date_;
  std::thread thread_;
};

}  // namespace muster::http
