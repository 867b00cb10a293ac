// A connection to a message broker, as the publisher needs it. Behind it is librabbitmq, or a test.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <muster/context.hpp>
#include <muster/error.hpp>

#include "host/config/host_configuration.hpp"

namespace muster::events {

struct AmqpMessage {
  std::string exchange;  // with its prefix
  std::string routing_key, body;
  std::string id;
  Time at{};
};

// What the broker says about messages: `number` counts those published since open(), from 1.
struct Confirm {
  std::uint64_t number = 0;
  bool all_before = false;  // and all with smaller numbers
  bool taken = true;
};

// THREADS: one at a time, but interrupt().
class AmqpLink {
 public:
  virtual ~AmqpLink() = default;

  // Connects, and declares these exchanges as durable topic exchanges. Waits, with deadlines. An
  // error says what to do. After any error the link is closed.
  virtual Result<void> open(const std::vector<std::string>& exchanges) = 0;
  virtual void close() = 0;
  virtual Result<void> publish(const AmqpMessage& message) = 0;
  // What came meanwhile; never waits. Also keeps the connection alive.
  virtual Result<std::vector<Confirm>> receive() = 0;
  // The broker asks for a pause: why; empty if it does not.
  virtual std::string blocked() const = 0;
  // To wait for; negative while it is closed.
  virtual int descriptor() const = 0;
  // Ends a call that waits. THREADS: any.
  virtual void interrupt() = 0;
};

// "amqp://fleet@broker.example:5672/vhost", without what is secret.
std::unique_ptr<AmqpLink> rabbitmq_link(const config::AmqpSettings& settings);

}  // namespace muster::events
