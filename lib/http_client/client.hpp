// The one HTTP client: HTTP/1.1 over connections that are kept, with a bound on everything that a
// server can make long. Certificates are always checked. Redirects are answers like any other and
// never followed, so credentials go to nobody but the server that was named.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include <muster/context.hpp>

#include "lib/hawk/server_clock.hpp"
#include "lib/http_client/message.hpp"

namespace muster::http_client {

struct Settings {
  std::size_t max_concurrent = 16;  // requests under way, and connections
  std::size_t max_body_bytes = 16 << 20;
  std::chrono::milliseconds timeout{20'000};  // of one request, from the lookup to the last byte
  std::chrono::milliseconds connect_timeout{10'000};
  std::string ca_file = {};               // trusted instead of the system's certificates
  std::string certificate_file = {};      // of the client, for servers that want one; PEM
  std::string key_file = {};              // its key
  std::optional<std::string> proxy = {};  // empty: none; nothing: what the environment says
  // What is known of the server's clock. Clients of the same server may share it.
  std::shared_ptr<hawk::ServerClock> server_clock = std::make_shared<hawk::ServerClock>();
};

// What ends a call before its timeout. Everything is borrowed until the call returns.
class Cancellation {
 public:
  Cancellation() = default;
  // Its deadline counts, too, and signatures use its time.
  Cancellation(const Context& context) : context_(&context) {}
  Cancellation(const std::atomic<bool>& flag) : flag_(&flag) {}
  static Cancellation when_readable(int descriptor);  // -1: never

  bool requested() const;
  std::chrono::milliseconds limit(std::chrono::milliseconds timeout) const;
  Time now() const;
  int descriptor() const { return descriptor_; }
  bool must_be_polled() const { return context_ || flag_; }

 private:
  const Context* context_ = nullptr;
  const std::atomic<bool>* flag_ = nullptr;
  int descriptor_ = -1;
};

// THREADS: one at a time; different clients in parallel. The constructor does no I/O.
//
// A signed request that is refused (401) by a server whose clock differs is signed with the
// server's time and sent once more. A kept connection that turns out dead is replaced and the
// request sent again, so a server may meet one twice, unless the request does without a kept
// connection. Nothing else is tried twice unless the request asks for it.
class Client {
 public:
  explicit Client(Settings settings);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Returns by the request's timeout, and soon after it was cancelled.
  Answer send(Request request, const Cancellation& cancellation = {});

  // `next` gives one request after the other, as late as possible, until it has no more (false);
  // `done` gets the answer to the nth. Returns when all are answered; those that were under way
  // when the call was cancelled are answered with a failure.
  void send_all(const std::function<bool(Request&)>& next,
                const std::function<void(std::size_t, Answer)>& done,
                const Cancellation& cancellation = {});

  const hawk::ServerClock& server_clock() const;

 private:
  Answer send_once(Request request, const Cancellation& cancellation);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::http_client
