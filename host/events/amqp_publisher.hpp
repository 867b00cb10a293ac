// Publishes events to a message broker. Many are under way at once, but of one pool only one: what
// the broker refuses or a lost connection leaves in doubt is sent again before anything later of
// that pool, so that nothing is lost and nothing overtakes within a pool. A message that comes
// twice comes directly behind itself, unless the host died before its position was durable: then
// the last few are repeated in their order.
#pragma once

#include <deque>
#include <map>
#include <mutex>

#include "host/events/amqp_link.hpp"
#include "host/events/delivery_store.hpp"
#include "host/events/event_log.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/log.hpp"

namespace muster::events {

struct AmqpStatus {
  std::string url;  // without the password
  bool connected = false;
  std::string blocked;         // why the broker asked for a pause
  std::int64_t delivered = 0;  // the last event up to which all are confirmed
  std::int64_t lag = 0;        // events behind the newest
  std::int64_t published = 0, refused = 0, connections = 0, lost = 0;  // since the host started
  std::int64_t not_told = 0;  // events that have no message for the broker
  std::string problem;        // of the last connection or message, while it lasts
  std::optional<Time> problem_at, retry_at;
};

class AmqpPublisher {
 public:
  static constexpr const char* consumer = "amqp";

  struct Parts {
    config::AmqpSettings settings;
    const EventLog* log = nullptr;  // these three are borrowed
    DeliveryStore* deliveries = nullptr;
    const Clock* clock = nullptr;
    std::unique_ptr<AmqpLink> link;
    std::function<double()> random;  // from 0 to 1
    std::function<void()> wake;      // asks for a step(); called on any thread
    Log log_lines = {};
  };
  // Goes on after this number.
  AmqpPublisher(Parts parts, std::int64_t delivered);

  // Does what can be done now and returns when to be called again at the latest; sooner if the
  // descriptor() has something to read, an event comes or wake() is called. THREADS: one at a time.
  SteadyTime step();
  int descriptor() const { return parts_.link->descriptor(); }
  void interrupt() { parts_.link->interrupt(); }  // THREADS: any
  void close() { parts_.link->close(); }

  // THREADS: any.
  AmqpStatus status() const;

 private:
  struct Pending {
    std::int64_t number = 0;
    std::string order;  // what it must not be overtaken in: its pool
    std::vector<AmqpMessage> messages = {};
    std::size_t unconfirmed = 0;
    bool under_way = false, refused = false;
    SteadyTime not_before{};
  };
  struct Saving {
    std::atomic<bool> busy = false;
  };

  SteadyTime connect(SteadyTime now);
  void fail(const std::string& problem);
  Result<void> take_confirms();
  void confirm(std::uint64_t number, bool taken);
  bool fill();
  Result<SteadyTime> publish(SteadyTime now);
  Result<void> send(Pending& pending);
  void settle();
  std::chrono::milliseconds backoff() const;
  void trouble(const std::string& problem, std::optional<std::chrono::milliseconds> retry);

  const Parts parts_;
  Cursor cursor_;
  std::deque<Pending> pending_;                      // by number; the first is not confirmed
  std::map<std::uint64_t, std::int64_t> under_way_;  // the link's numbers → events
  std::uint64_t sent_ = 0;                           // over this connection
  std::int64_t delivered_, saved_;
  std::shared_ptr<Saving> saving_ = std::make_shared<Saving>();
  bool connected_ = false;
  int failures_ = 0;
  SteadyTime not_before_{}, store_not_before_{};

  mutable std::mutex mutex_;
  AmqpStatus status_;
};

}  // namespace muster::events
