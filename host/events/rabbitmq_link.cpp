// The connection to a real broker, by librabbitmq.
#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <atomic>
#include <sys/socket.h>

#include <openssl/ssl.h>

#include "host/events/amqp_link.hpp"
#include "lib/base/secret_file.hpp"

namespace muster::events {
namespace {

constexpr timeval connect_time{5, 0}, call_time{10, 0};
constexpr amqp_channel_t channel = 1;
constexpr int largest_frame = 131072;

amqp_bytes_t bytes(const std::string& text) {
  return {text.size(), const_cast<char*>(text.data())};
}

std::string text_of(amqp_bytes_t bytes) {
  return {static_cast<const char*>(bytes.bytes), bytes.len};
}

// What "amqp://user@host:port/vhost" says.
struct Address {
  std::string user, host, vhost;
  int port = 0;
  bool tls = false;
};

Result<Address> parse_address(const std::string& url) {
  std::string text = url;  // is taken apart in place
  amqp_connection_info info;
  amqp_default_connection_info(&info);
  if (amqp_parse_url(text.data(), &info) != AMQP_STATUS_OK)
    return Error::config("the address " + url +
                         " is none of a broker; write for example amqps://user@broker:5671/vhost");
  Address address{info.user, info.host, info.vhost, info.port, info.ssl != 0};
  if (address.vhost.empty()) address.vhost = "/";
  return address;
}

class RabbitmqLink final : public AmqpLink {
 public:
  explicit RabbitmqLink(const config::AmqpSettings& settings) : settings_(settings) {}
  ~RabbitmqLink() override { close(); }

  Result<void> open(const std::vector<std::string>& exchanges) override;
  void close() override;
  Result<void> publish(const AmqpMessage& message) override;
  Result<std::vector<Confirm>> receive() override;
  std::string blocked() const override { return blocked_; }
  int descriptor() const override { return descriptor_; }
  void interrupt() override {
    interrupted_ = true;
    if (const int open = descriptor_; open >= 0) ::shutdown(open, SHUT_RDWR);
  }

 private:
  Result<void> connect(const Address& address);
  Result<void> log_in(const Address& address, const std::string& password);
  Result<void> declare(const std::vector<std::string>& exchanges);
  Result<amqp_socket_t*> tls_socket();
  Result<void> take(const amqp_frame_t& frame, std::vector<Confirm>& confirms);
  Error refusal(const std::string& what, const amqp_rpc_reply_t& reply) const;
  Error closed_by_broker(const amqp_method_t& method) const;

  const config::AmqpSettings settings_;
  amqp_connection_state_t connection_ = nullptr;
  std::atomic<int> descriptor_ = -1;
  std::atomic<bool> interrupted_ = false;
  std::string blocked_, user_, vhost_;
};

// What the broker's own codes ask the operator to do.
std::string advice(std::uint16_t code, const std::string& user, const std::string& vhost) {
  switch (code) {
    case 403:
      return "; check the user \"" + user + "\", its password and its permissions on the vhost \"" +
             vhost + "\" (it must configure and write the exchanges)";
    case 406:
      return "; an exchange of that name is there with another type: delete it, or choose another "
             "exchangePrefix";
    case 530:
      return "; check that the vhost \"" + vhost + "\" exists and that the user \"" + user +
             "\" may use it";
    default:
      return "";
  }
}

Error RabbitmqLink::closed_by_broker(const amqp_method_t& method) const {
  std::uint16_t code = 0;
  std::string text;
  if (method.id == AMQP_CONNECTION_CLOSE_METHOD) {
    const auto* close = static_cast<const amqp_connection_close_t*>(method.decoded);
    code = close->reply_code;
    text = text_of(close->reply_text);
  } else if (method.id == AMQP_CHANNEL_CLOSE_METHOD) {
    const auto* close = static_cast<const amqp_channel_close_t*>(method.decoded);
    code = close->reply_code;
    text = text_of(close->reply_text);
  }
  return Error::transient("the broker says " + std::to_string(code) + " " + text +
                          advice(code, user_, vhost_));
}

Error RabbitmqLink::refusal(const std::string& what, const amqp_rpc_reply_t& reply) const {
  if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION)
    return Error::transient(what + ": " + closed_by_broker(reply.reply).message);
  if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION)
    return Error::transient(what + ": " + amqp_error_string2(reply.library_error));
  return Error::transient(what + ": the broker gave no answer");
}

Result<void> RabbitmqLink::open(const std::vector<std::string>& exchanges) {
  close();
  if (interrupted_) return Error::cancelled("the host is stopping");
  const auto address = parse_address(settings_.url);
  if (!address) return address.error();
  user_ = address->user;
  vhost_ = address->vhost;
  Secret password("guest");  // as every broker has it for those on its own machine
  if (!settings_.password_file.empty()) {
    auto read = read_secret_file(settings_.password_file, "the password of the broker's user");
    if (!read) return read.error();
    password = std::move(*read);
  }
  Result<void> opened = connect(*address);
  if (opened) opened = log_in(*address, password.reveal());
  if (opened) opened = declare(exchanges);
  if (!opened) close();
  return opened;
}

Result<amqp_socket_t*> RabbitmqLink::tls_socket() {
  amqp_socket_t* socket = amqp_ssl_socket_new(connection_);
  if (!socket) return Error::internal("TLS cannot be set up");
  amqp_ssl_socket_set_verify_peer(socket, 1);
  amqp_ssl_socket_set_verify_hostname(socket, 1);
  amqp_ssl_socket_set_ssl_versions(socket, AMQP_TLSv1_2, AMQP_TLSvLATEST);
  if (settings_.ca_file.empty()) {
    SSL_CTX_set_default_verify_paths(static_cast<SSL_CTX*>(amqp_ssl_socket_get_context(socket)));
  } else if (amqp_ssl_socket_set_cacert(socket, settings_.ca_file.c_str()) != AMQP_STATUS_OK) {
    return Error::config("the certificates in " + settings_.ca_file.string() +
                         " cannot be read; caFile names a PEM file");
  }
  return socket;
}

Result<void> RabbitmqLink::connect(const Address& address) {
  connection_ = amqp_new_connection();
  amqp_set_handshake_timeout(connection_, &call_time);
  amqp_set_rpc_timeout(connection_, &call_time);
  Result<amqp_socket_t*> socket = amqp_tcp_socket_new(connection_);
  if (address.tls) socket = tls_socket();
  if (!socket) return socket.error();
  const timeval time = connect_time;
  const int status = amqp_socket_open_noblock(*socket, address.host.c_str(), address.port, &time);
  if (status == AMQP_STATUS_OK) {
    descriptor_ = amqp_get_sockfd(connection_);
    return {};
  }
  const std::string where = address.host + ":" + std::to_string(address.port);
  if (status == AMQP_STATUS_SSL_PEER_VERIFY_FAILED ||
      status == AMQP_STATUS_SSL_HOSTNAME_VERIFY_FAILED)
    return Error::transient(where + " has a certificate that is not trusted for this name (" +
                            amqp_error_string2(status) +
                            "); name the authority that signed it in caFile");
  if (status == AMQP_STATUS_SSL_ERROR || status == AMQP_STATUS_SSL_CONNECTION_FAILED)
    return Error::transient("no TLS with " + where + " (" + amqp_error_string2(status) +
                            "); check that this port speaks TLS and that caFile names the "
                            "authority that signed its certificate");
  return Error::transient("cannot connect to " + where + ": " + amqp_error_string2(status));
}

Result<void> RabbitmqLink::log_in(const Address& address, const std::string& password) {
  amqp_table_entry_t can[1];
  can[0].key = amqp_cstring_bytes("connection.blocked");
  can[0].value.kind = AMQP_FIELD_KIND_BOOLEAN;
  can[0].value.value.boolean = 1;
  amqp_table_entry_t say[2];
  say[0].key = amqp_cstring_bytes("capabilities");
  say[0].value.kind = AMQP_FIELD_KIND_TABLE;
  say[0].value.value.table = {1, can};
  say[1].key = amqp_cstring_bytes("connection_name");
  say[1].value.kind = AMQP_FIELD_KIND_UTF8;
  say[1].value.value.bytes = amqp_cstring_bytes("muster");
  const amqp_table_t properties{2, say};
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(settings_.heartbeat).count();
  const amqp_rpc_reply_t reply = amqp_login_with_properties(
      connection_, address.vhost.c_str(), 0, largest_frame, static_cast<int>(seconds), &properties,
      AMQP_SASL_METHOD_PLAIN, address.user.c_str(), password.c_str());
  if (reply.reply_type == AMQP_RESPONSE_NORMAL) return {};
  return refusal("the login was refused", reply);
}

Result<void> RabbitmqLink::declare(const std::vector<std::string>& exchanges) {
  amqp_channel_open(connection_, channel);
  if (const auto reply = amqp_get_rpc_reply(connection_); reply.reply_type != AMQP_RESPONSE_NORMAL)
    return refusal("no channel was opened", reply);
  for (const std::string& name : exchanges) {
    amqp_exchange_declare(connection_, channel, bytes(name), amqp_cstring_bytes("topic"), 0, 1, 0,
                          0, amqp_empty_table);
    if (const auto reply = amqp_get_rpc_reply(connection_);
        reply.reply_type != AMQP_RESPONSE_NORMAL)
      return refusal("the exchange " + name + " cannot be declared", reply);
  }
  amqp_confirm_select(connection_, channel);
  if (const auto reply = amqp_get_rpc_reply(connection_); reply.reply_type != AMQP_RESPONSE_NORMAL)
    return refusal("the broker confirms nothing", reply);
  amqp_maybe_release_buffers(connection_);
  return {};
}

// Without the closing handshake: what was confirmed is confirmed, and a broker that is gone would
// be waited for.
void RabbitmqLink::close() {
  descriptor_ = -1;
  blocked_.clear();
  if (connection_) amqp_destroy_connection(connection_);
  connection_ = nullptr;
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
      amqp_basic_publish(connection_, channel, bytes(message.exchange), bytes(message.routing_key),
                         0, 0, &properties, bytes(message.body));
  if (status == AMQP_STATUS_OK) return {};
  return Error::transient(std::string("the connection to the broker broke: ") +
                          amqp_error_string2(status));
}

Result<std::vector<Confirm>> RabbitmqLink::receive() {
  std::vector<Confirm> confirms;
  for (;;) {
    amqp_maybe_release_buffers(connection_);
    amqp_frame_t frame;
    const timeval at_once{0, 0};
    const int status = amqp_simple_wait_frame_noblock(connection_, &frame, &at_once);
    if (status == AMQP_STATUS_TIMEOUT) return confirms;
    if (status != AMQP_STATUS_OK)
      return Error::transient(std::string("the connection to the broker broke: ") +
                              amqp_error_string2(status));
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
      return closed_by_broker(method);
    default:
      return {};
  }
}

}  // namespace

std::unique_ptr<AmqpLink> rabbitmq_link(const config::AmqpSettings& settings) {
  return std::make_unique<RabbitmqLink>(settings);
}

}  // namespace muster::events
