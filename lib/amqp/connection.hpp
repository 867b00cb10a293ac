// A connection to a message broker by librabbitmq, with one channel: what those who publish and
// those who consume share.
#pragma once

#include <amqp.h>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>

#include <muster/error.hpp>

namespace muster::amqp {

struct Settings {
  std::string url;  // "amqps://user@broker:5671/vhost", without what is secret
  std::filesystem::path password_file = {}, ca_file = {};
  std::chrono::milliseconds heartbeat = std::chrono::seconds(20);
};

inline constexpr amqp_channel_t channel = 1;

// Borrows the text.
amqp_bytes_t bytes(const std::string& text);
std::string text_of(amqp_bytes_t bytes);

// THREADS: one at a time, but interrupt().
class Connection {
 public:
  explicit Connection(Settings settings) : settings_(std::move(settings)) {}
  ~Connection() { close(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Connects, logs in and opens the channel. Waits, with deadlines. An error says what to do; after
  // it the connection is closed.
  Result<void> open();
  // Without the closing handshake: what was confirmed is confirmed, and a broker that is gone would
  // be waited for.
  void close();
  // Ends a call that waits, and every later open(). THREADS: any.
  void interrupt();

  bool is_open() const { return state_ != nullptr; }
  amqp_connection_state_t state() const { return state_; }
  // To wait for; negative while it is closed.
  int descriptor() const { return descriptor_; }

  // The answer to the call that was made last; "<what>: <why>, <what to do>" if it failed.
  Result<void> check(const std::string& what) const;
  // The next frame that is there, or `timeout` of the library's codes in `status`. Never waits.
  Result<bool> next_frame(amqp_frame_t& frame);
  // Why the broker closed the channel or the connection.
  Error closed_by_broker(const amqp_method_t& method) const;
  Error broken(int status) const;

 private:
  struct Address;
  static Result<Address> parse_address(const std::string& url);
  Result<void> connect(const Address& address);
  Result<void> log_in(const Address& address, const std::string& password);
  Result<amqp_socket_t*> tls_socket();
  Error refusal(const std::string& what, const amqp_rpc_reply_t& reply) const;

  const Settings settings_;
  amqp_connection_state_t state_ = nullptr;
  std::atomic<int> descriptor_ = -1;
  std::atomic<bool> interrupted_ = false;
  std::string user_, vhost_;
};

}  // namespace muster::amqp
