// The link to a real broker, over lib/amqp.
#include <amqp.h>
#include <amqp_framing.h>

#include "host/events/amqp_link.hpp"
#include "lib/amqp/connection.hpp"

namespace muster::events {
namespace {

using amqp::bytes;
using amqp::channel;
using amqp::text_of;

class RabbitmqLink final : public AmqpLink {
 public:
  explicit RabbitmqLink(const config::AmqpSettings& settings)
      : connection_({settings.url, settings.password_file, settings.ca_file, settings.heartbeat}) {}

  Result<void> open(const std::vector<std::string>& exchanges) override;
  void close() override;
  Result<void> publish(const AmqpMessage& message) override;
  Result<std::vector<Confirm>> receive() override;
  std::string blocked() const override { return blocked_; }
  int descriptor() const override { return connection_.descriptor(); }
  void interrupt() override { connection_.interrupt(); }

 private:
  Result<void> declare(const std::vector<std::string>& exchanges);
  Result<void> take(const amqp_frame_t& frame, std::vector<Confirm>& confirms);

  amqp::Connection connection_;
  std::string blocked_;
};

Result<void> RabbitmqLink::open(const std::vector<std::string>& exchanges) {
  close();
  Result<void> opened = connection_.open();
  if (opened) opened = declare(exchanges);
  if (!opened) close();
  return opened;
}

void RabbitmqLink::close() {
  connection_.close();
  blocked_.clear();
}

Result<void> RabbitmqLink::declare(const std::vector<std::string>& exchanges) {
  for (const std::string& name : exchanges) {
    amqp_exchange_declare(connection_.state(), channel, bytes(name), amqp_cstring_bytes("topic"), 0,
                          1, 0, 0, amqp_empty_table);
    if (auto declared = connection_.check("the exchange " + name + " cannot be declared");
        !declared)
      return declared;
  }
  amqp_confirm_select(connection_.state(), channel);
  if (auto confirms = connection_.check("the broker confirms nothing"); !confirms) return confirms;
  amqp_maybe_release_buffers(connection_.state());
  return {};
}

Result<void> RabbitmqLink::publish(const AmqpMessage& message) {
  amqp_basic_properties_t properties{};
  properties._flags = AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG |
                      AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_TIMESTAMP_FLAG;
  properties.content_type = amqp_cstring_bytes("application/json");
  properties.delivery_mode = AMQP_DELIVERY_PERSISTENT;
  properties.message_id = bytes(message.id);
  properties.timestamp = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::seconds>(message.at.time_since_epoch()).count());
  const int status =
      amqp_basic_publish(connection_.state(), channel, bytes(message.exchange),
                         bytes(message.routing_key), 0, 0, &properties, bytes(message.body));
  if (status == AMQP_STATUS_OK) return {};
  return connection_.broken(status);
}

Result<std::vector<Confirm>> RabbitmqLink::receive() {
  std::vector<Confirm> confirms;
  for (;;) {
    amqp_frame_t frame;
    const auto came = connection_.next_frame(frame);
    if (!came) return came.error();
    if (!*came) return confirms;
    if (const auto taken = take(frame, confirms); !taken) return taken.error();
  }
}

Result<void> RabbitmqLink::take(const amqp_frame_t& frame, std::vector<Confirm>& confirms) {
  if (frame.frame_type != AMQP_FRAME_METHOD) return {};
  const amqp_method_t& method = frame.payload.method;
  switch (method.id) {
    case AMQP_BASIC_ACK_METHOD: {
      const auto* ack = static_cast<const amqp_basic_ack_t*>(method.decoded);
      confirms.push_back({ack->delivery_tag, ack->multiple != 0, true});
      return {};
    }
    case AMQP_BASIC_NACK_METHOD: {
      const auto* nack = static_cast<const amqp_basic_nack_t*>(method.decoded);
      confirms.push_back({nack->delivery_tag, nack->multiple != 0, false});
      return {};
    }
    case AMQP_CONNECTION_BLOCKED_METHOD: {
      blocked_ = text_of(static_cast<const amqp_connection_blocked_t*>(method.decoded)->reason);
      if (blocked_.empty()) blocked_ = "it gave no reason";
      return {};
    }
    case AMQP_CONNECTION_UNBLOCKED_METHOD:
      blocked_.clear();
      return {};
    case AMQP_CONNECTION_CLOSE_METHOD:
    case AMQP_CHANNEL_CLOSE_METHOD:
      return connection_.closed_by_broker(method);
    default:
      return {};
  }
}

}  // namespace

std::unique_ptr<AmqpLink> rabbitmq_link(const config::AmqpSettings& settings) {
  return std::make_unique<RabbitmqLink>(settings);
}

}  // namespace muster::events
