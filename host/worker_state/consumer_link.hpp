// A queue of a message broker, as the consumer needs it. Behind it is librabbitmq, or a test.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <muster/error.hpp>

#include "host/config/worker_state_settings.hpp"

namespace muster::worker_state {

struct Delivery {
  std::uint64_t number = 0;  // counts from 1 since open()
  bool redelivered = false;
  std::string exchange = {}, routing_key = {};
  std::string body = {};  // empty, if it was larger than 1 MiB
};

// THREADS: one at a time, but interrupt().
class ConsumerLink {
 public:
  virtual ~ConsumerLink() = default;

  // Connects, declares the queue, binds it with these keys to each of the exchanges, which must be
  // there, and begins to consume. Waits, with deadlines. True: the queue is new, so that messages
  // of before were missed. After any error the link is closed.
  virtual Result<bool> open(const std::vector<std::string>& keys) = 0;
  virtual void close() = 0;
  virtual Result<void> bind(const std::string& key) = 0;
  virtual Result<void> unbind(const std::string& key) = 0;
  // What came meanwhile; never waits. Also keeps the connection alive. Fails if the broker has
  // cancelled the consumer, as it does when the queue is deleted.
  virtual Result<std::vector<Delivery>> receive() = 0;
  // That one and all before it.
  virtual Result<void> acknowledge(std::uint64_t number) = 0;
  // To wait for; negative while it is closed.
  virtual int descriptor() const = 0;
  // Ends a call that waits. THREADS: any.
  virtual void interrupt() = 0;
};

std::unique_ptr<ConsumerLink> rabbitmq_consumer_link(const config::RunQueueSettings& settings);

}  // namespace muster::worker_state
