// The queue of a real broker, over lib/amqp.
#include <amqp.h>
#include <amqp_framing.h>
#include <optional>
#include <utility>

#include "host/worker_state/consumer_link.hpp"
#include "host/worker_state/queue_message.hpp"
#include "lib/amqp/connection.hpp"

namespace muster::worker_state {
namespace {

using amqp::bytes;
using amqp::channel;
using amqp::text_of;

constexpr std::uint64_t largest_body = 1 << 20;
// Deliveries that are taken together: between them the thread does something else.
constexpr std::size_t most_at_once = 1000;

class RabbitmqConsumerLink final : public ConsumerLink {
 public:
  explicit RabbitmqConsumerLink(const config::RunQueueSettings& settings)
      : settings_(settings),
        connection_({settings.url, settings.password_file, settings.ca_file, settings.heartbeat}) {}

  Result<bool> open(const std::vector<std::string>& keys) override;
  void close() override;
  Result<void> bind(const std::string& key) override;
  Result<void> unbind(const std::string& key) override;
  Result<std::vector<Delivery>> receive() override;
  Result<void> acknowledge(std::uint64_t number) override;
  int descriptor() const override { return connection_.descriptor(); }
  void interrupt() override { connection_.interrupt(); }

 private:
  // A delivery whose body has not come wholly.
  struct Incomplete {
    Delivery delivery;
    std::uint64_t missing = 0;
    bool has_header = false, too_large = false;
  };
  Result<bool> is_new();
  Result<void> declare();
  Result<void> consume(const std::vector<std::string>& keys);
  Result<void> take(const amqp_frame_t& frame, std::vector<Delivery>& deliveries);
  Result<void> take_method(const amqp_method_t& method);
  void take_header(const amqp_frame_t& frame);
  void take_body(amqp_bytes_t part);
  void finish_if_complete(std::vector<Delivery>& deliveries);

  const config::RunQueueSettings settings_;
  amqp::Connection connection_;
  std::optional<Incomplete> incomplete_;
  bool fresh_ = false;  // since the last open() that succeeded
};

Result<bool> RabbitmqConsumerLink::open(const std::vector<std::string>& keys) {
  close();
  const auto fresh = is_new();
  Result<void> opened = fresh ? Result<void>() : Result<void>(fresh.error());
  // An attempt that fails may leave the queue without its bindings.
  if (opened) fresh_ = fresh_ || *fresh;
  if (opened) opened = declare();
  if (opened) opened = consume(keys);
  if (opened) return std::exchange(fresh_, false);
  close();
  return opened.error();
}

// The broker answers the question with the end of the channel if there is none.
Result<bool> RabbitmqConsumerLink::is_new() {
  if (auto opened = connection_.open(); !opened) return opened.error();
  amqp_queue_declare(connection_.state(), channel, bytes(settings_.name), 1, 1, 0, 0,
                     amqp_empty_table);
  const auto reply = amqp_get_rpc_reply(connection_.state());
  if (reply.reply_type == AMQP_RESPONSE_NORMAL) return false;
  const bool channel_ended = reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION &&
                             reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD;
  if (!channel_ended ||
      static_cast<const amqp_channel_close_t*>(reply.reply.decoded)->reply_code != 404)
    return connection_.check("the queue " + settings_.name + " cannot be used").error();
  connection_.close();
  if (auto opened = connection_.open(); !opened) return opened.error();
  return true;
}

Result<void> RabbitmqConsumerLink::declare() {
  amqp_table_entry_t entry;
  entry.key = amqp_cstring_bytes("x-queue-type");
  entry.value.kind = AMQP_FIELD_KIND_UTF8;
  entry.value.value.bytes = amqp_cstring_bytes(settings_.quorum ? "quorum" : "classic");
  amqp_queue_declare(connection_.state(), channel, bytes(settings_.name), 0, 1, 0, 0, {1, &entry});
  return connection_.check("the queue " + settings_.name + " cannot be declared");
}

Result<void> RabbitmqConsumerLink::consume(const std::vector<std::string>& keys) {
  for (const std::string& key : keys)
    if (auto bound = bind(key); !bound) return bound;
  amqp_basic_qos(connection_.state(), channel, 0, static_cast<std::uint16_t>(settings_.prefetch),
                 0);
  if (auto set = connection_.check("the prefetch is refused"); !set) return set;
  amqp_basic_consume(connection_.state(), channel, bytes(settings_.name), amqp_empty_bytes, 0, 0, 0,
                     amqp_empty_table);
  return connection_.check("the queue " + settings_.name + " cannot be consumed");
}

Result<void> RabbitmqConsumerLink::bind(const std::string& key) {
  for (const std::string& exchange : queue_exchanges(settings_.exchange_prefix)) {
    amqp_queue_bind(connection_.state(), channel, bytes(settings_.name), bytes(exchange),
                    bytes(key), amqp_empty_table);
    if (auto bound = connection_.check("the queue cannot be bound to the exchange " + exchange);
        !bound)
      return bound;
  }
  return {};
}

Result<void> RabbitmqConsumerLink::unbind(const std::string& key) {
  for (const std::string& exchange : queue_exchanges(settings_.exchange_prefix)) {
    amqp_queue_unbind(connection_.state(), channel, bytes(settings_.name), bytes(exchange),
                      bytes(key), amqp_empty_table);
    if (auto unbound = connection_.check("the binding to " + exchange + " cannot be removed");
        !unbound)
      return unbound;
  }
  return {};
}

void RabbitmqConsumerLink::close() {
  connection_.close();
  incomplete_.reset();
}

Result<void> RabbitmqConsumerLink::acknowledge(std::uint64_t number) {
  const int status = amqp_basic_ack(connection_.state(), channel, number, 1);
  if (status == AMQP_STATUS_OK) return {};
  return connection_.broken(status);
}

Result<std::vector<Delivery>> RabbitmqConsumerLink::receive() {
  std::vector<Delivery> deliveries;
  while (deliveries.size() < most_at_once) {
    amqp_frame_t frame;
    const auto came = connection_.next_frame(frame);
    if (!came) return came.error();
    if (!*came) break;
    if (const auto taken = take(frame, deliveries); !taken) return taken.error();
  }
  return deliveries;
}

Result<void> RabbitmqConsumerLink::take(const amqp_frame_t& frame,
                                        std::vector<Delivery>& deliveries) {
  if (frame.frame_type == AMQP_FRAME_METHOD) return take_method(frame.payload.method);
  if (!incomplete_) return {};
  if (frame.frame_type == AMQP_FRAME_HEADER) {
    take_header(frame);
  } else if (frame.frame_type == AMQP_FRAME_BODY) {
    take_body(frame.payload.body_fragment);
  }
  finish_if_complete(deliveries);
  return {};
}

Result<void> RabbitmqConsumerLink::take_method(const amqp_method_t& method) {
  switch (method.id) {
    case AMQP_BASIC_DELIVER_METHOD: {
      const auto* deliver = static_cast<const amqp_basic_deliver_t*>(method.decoded);
      incomplete_ = Incomplete{.delivery = {.number = deliver->delivery_tag,
                                            .redelivered = deliver->redelivered != 0,
                                            .exchange = text_of(deliver->exchange),
                                            .routing_key = text_of(deliver->routing_key)}};
      return {};
    }
    case AMQP_BASIC_CANCEL_METHOD:
      return Error::transient("the broker has cancelled the consumer: the queue " + settings_.name +
                              " was deleted");
    case AMQP_CONNECTION_CLOSE_METHOD:
    case AMQP_CHANNEL_CLOSE_METHOD:
      return connection_.closed_by_broker(method);
    default:
      return {};
  }
}

void RabbitmqConsumerLink::take_header(const amqp_frame_t& frame) {
  incomplete_->missing = frame.payload.properties.body_size;
  incomplete_->has_header = true;
  incomplete_->too_large = incomplete_->missing > largest_body;
  if (!incomplete_->too_large) incomplete_->delivery.body.reserve(incomplete_->missing);
}

void RabbitmqConsumerLink::take_body(amqp_bytes_t part) {
  incomplete_->missing -= std::min<std::uint64_t>(incomplete_->missing, part.len);
  if (!incomplete_->too_large)
    incomplete_->delivery.body.append(static_cast<const char*>(part.bytes), part.len);
}

void RabbitmqConsumerLink::finish_if_complete(std::vector<Delivery>& deliveries) {
  if (!incomplete_->has_header || incomplete_->missing > 0) return;
  deliveries.push_back(std::move(incomplete_->delivery));
  incomplete_.reset();
}

}  // namespace

std::unique_ptr<ConsumerLink> rabbitmq_consumer_link(const config::RunQueueSettings& settings) {
  return std::make_unique<RabbitmqConsumerLink>(settings);
}

}  // namespace muster::worker_state
