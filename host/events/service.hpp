// Events as the host serves them: the log, streams, webhooks, the message broker.
//
//   auto events = events::Service::make({configuration, store, clock, log});      // before the
//   fleet ServiceParts{..., .listener = [&](const auto& durable) { events->on_durable(durable); }}
//   events->start([&](auto batch, auto durable) { return committer.submit(batch, durable); });
//
// It ends in this order: the HTTP server, stop(), the fleet, this object.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "host/config/host_configuration.hpp"
#include "host/events/amqp_publisher.hpp"
#include "host/events/delivery_store.hpp"
#include "host/events/event_log.hpp"
#include "host/events/event_stream.hpp"
#include "host/events/step_thread.hpp"
#include "host/events/webhook.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/log.hpp"
#include "lib/base/tally.hpp"
#include "lib/http/worker_threads.hpp"

namespace muster::events {

// For /metrics.
struct Numbers {
  std::int64_t newest = 0;     // the number of the newest event: counts all that ever were
  std::int64_t listeners = 0;  // streams that are open
  std::vector<WebhookStatus> webhooks = {};
  std::optional<AmqpStatus> amqp = {};
};

json::object to_json(const WebhookStatus& status);

// THREADS: any, unless said otherwise.
class Service {
 public:
  struct Parts {
    std::shared_ptr<const config::HostConfiguration> configuration;
    const store::Store* store = nullptr;  // borrowed
    std::shared_ptr<const Clock> clock;
    Log log = {};
    std::int64_t newest = 0;  // the number that was given last, if the caller knows it
    // See Webhook::Parts.
    std::function<Time(Time from, std::chrono::milliseconds patience)> deadline = {};
  };
  // Reads the newest events of the store.
  static Result<std::unique_ptr<Service>> make(Parts parts);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Events that are durable now, in their order; those of numbers that came before are ignored.
  // Never waits. THREADS: one at a time.
  void on_durable(const std::vector<Event>& events);

  // Begins to send, with what the committer's submit() does. Once.
  Result<void> start(DeliveryStore::Submit submit);
  // Ends webhooks that are gone, begins those that are new, goes on with the others. Waits for
  // requests under way to be given up.
  void reconfigure(const config::HostConfiguration& configuration);
  // Sends no more. IDEMPOTENT.
  void stop();

  Numbers numbers() const;
  json::value webhooks_json() const;
  json::value amqp_json() const;
  // Both and the state of the log, for the host's status.
  json::value status_json() const;

  const EventLog& log() const { return log_; }
  // For as long as a stream of that client is open. `what` is counted on its own; fails as
  // `throttle` if the client has as many as it may.
  Result<Tally::Seat> open_seat(const std::string& client, const std::string& what);
  // What a listener hears, beginning where the query says. Must end before this object.
  // Fails as `throttle` if the client has too many.
  Result<std::shared_ptr<http::Stream>> open_stream(const EventQuery& query,
                                                    const std::string& client);
  // The threads on which the store is read for the API.
  http::WorkerThreads& readers() { return readers_; }

  // Nothing if no webhook of that name is configured.
  std::optional<WebhookStatus> webhook_status(const std::string& name) const;
  // What the webhook did not take, behind the number `after`. Those of a webhook that is no longer
  // configured, too.
  Result<std::vector<DeadLetterRow>> dead_letters(const std::string& webhook, std::int64_t after,
                                                  std::size_t limit) const;
  Result<std::optional<DeadLetterRow>> dead_letter(const std::string& webhook,
                                                   std::int64_t number) const;
  // False: no webhook of that name is configured. IDEMPOTENT.
  bool retry_dead_letter(const std::string& webhook, std::int64_t number);
  // `durable` is called when it is gone for good. False: the host is stopping, and it stays.
  bool erase_dead_letter(const std::string& webhook, std::int64_t number,
                         std::function<void()> durable);

 private:
  struct RunningWebhook;
  struct RunningAmqp;

  explicit Service(Parts parts);
  void start_webhook(const config::WebhookSettings& settings, std::int64_t after);
  void start_amqp(const config::AmqpSettings& settings, std::int64_t after);
  void reconfigure_webhooks(const std::vector<config::WebhookSettings>& wanted);
  void reconfigure_amqp(const std::optional<config::AmqpSettings>& wanted);
  std::int64_t begin_at(const std::string& consumer,
                        const std::map<std::string, std::int64_t>& positions);
  void start_housekeeping();
  std::shared_ptr<RunningWebhook> find_webhook(const std::string& name) const;

  const Parts parts_;
  EventLog log_;
  DeliveryStore::Submit submit_;  // set before anything uses the book to write
  DeliveryStore book_;
  std::atomic<std::int64_t> listeners_ = 0;
  Tally seats_;
  std::atomic<std::int64_t> most_streams_of_client_ = 0;
  http::WorkerThreads readers_;

  std::mutex reconfiguring_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<RunningWebhook>> webhooks_;
  std::shared_ptr<RunningAmqp> amqp_;
  std::unique_ptr<StepThread> housekeeping_;
  bool stopped_ = false;
};

}  // namespace muster::events
