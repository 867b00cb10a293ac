#include "lib/amqp/connection.hpp"

#include <amqp_framing.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <sys/socket.h>

#include <openssl/ssl.h>

#include "lib/base/secret_file.hpp"

namespace muster::amqp {
namespace {

constexpr timeval connect_time{5, 0}, call_time{10, 0};
constexpr int largest_frame = 131072;

// What the broker's own codes ask the operator to do.
std::string advice(std::uint16_t code, const std::string& user, const std::string& vhost) {
  switch (code) {
    case 403:
      return "; check the user \"" + user + "\", its password and its permissions on the vhost \"" +
             vhost + "\"";
    case 406:
      return "; what is there of that name has another type or other arguments: delete it, or "
             "choose another "
             "name";
    case 530:
      return "; check that the vhost \"" + vhost + "\" exists and that the user \"" + user +
             "\" may use it";
    default:
      return "";
  }
}

}  // namespace

amqp_bytes_t bytes(const std::string& text) {
  return {text.size(), const_cast<char*>(text.data())};
}

std::string text_of(amqp_bytes_t bytes) {
  return {static_cast<const char*>(bytes.bytes), bytes.len};
}

// What "amqp://user@host:port/vhost" says.
struct Connection::Address {
  std::string user, host, vhost;
  int port = 0;
  bool tls = false;
};

Result<Connection::Address> Connection::parse_address(const std::string& url) {
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

Error Connection::closed_by_broker(const amqp_method_t& method) const {
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

Error Connection::refusal(const std::string& what, const amqp_rpc_reply_t& reply) const {
  if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION)
    return Error::transient(what + ": " + closed_by_broker(reply.reply).message);
  if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION)
    return Error::transient(what + ": " + amqp_error_string2(reply.library_error));
  return Error::transient(what + ": the broker gave no answer");
}

Result<void> Connection::open() {
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
  if (opened) {
    amqp_channel_open(state_, channel);
    opened = check("no channel was opened");
  }
  if (!opened) close();
  return opened;
}

Result<amqp_socket_t*> Connection::tls_socket() {
  amqp_socket_t* socket = amqp_ssl_socket_new(state_);
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

Result<void> Connection::connect(const Address& address) {
  state_ = amqp_new_connection();
  amqp_set_handshake_timeout(state_, &call_time);
  amqp_set_rpc_timeout(state_, &call_time);
  Result<amqp_socket_t*> socket = amqp_tcp_socket_new(state_);
  if (address.tls) socket = tls_socket();
  if (!socket) return socket.error();
  const timeval time = connect_time;
  const int status = amqp_socket_open_noblock(*socket, address.host.c_str(), address.port, &time);
  if (status == AMQP_STATUS_OK) {
    descriptor_ = amqp_get_sockfd(state_);
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

Result<void> Connection::log_in(const Address& address, const std::string& password) {
  amqp_table_entry_t can[2];
  can[0].key = amqp_cstring_bytes("connection.blocked");
  can[0].value.kind = AMQP_FIELD_KIND_BOOLEAN;
  can[0].value.value.boolean = 1;
  can[1].key = amqp_cstring_bytes("consumer_cancel_notify");
  can[1].value.kind = AMQP_FIELD_KIND_BOOLEAN;
  can[1].value.value.boolean = 1;
  amqp_table_entry_t say[2];
  say[0].key = amqp_cstring_bytes("capabilities");
  say[0].value.kind = AMQP_FIELD_KIND_TABLE;
  say[0].value.value.table = {2, can};
  say[1].key = amqp_cstring_bytes("connection_name");
  say[1].value.kind = AMQP_FIELD_KIND_UTF8;
  say[1].value.value.bytes = amqp_cstring_bytes("muster");
  const amqp_table_t properties{2, say};
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(settings_.heartbeat).count();
  const amqp_rpc_reply_t reply = amqp_login_with_properties(
      state_, address.vhost.c_str(), 0, largest_frame, static_cast<int>(seconds), &properties,
      AMQP_SASL_METHOD_PLAIN, address.user.c_str(), password.c_str());
  if (reply.reply_type == AMQP_RESPONSE_NORMAL) return {};
  return refusal("the login was refused", reply);
}

void Connection::close() {
  descriptor_ = -1;
  if (state_) amqp_destroy_connection(state_);
  state_ = nullptr;
}

void Connection::interrupt() {
  interrupted_ = true;
  if (const int open = descriptor_; open >= 0) ::shutdown(open, SHUT_RDWR);
}

Result<void> Connection::check(const std::string& what) const {
  const auto reply = amqp_get_rpc_reply(state_);
  if (reply.reply_type == AMQP_RESPONSE_NORMAL) return {};
  return refusal(what, reply);
}

Result<bool> Connection::next_frame(amqp_frame_t& frame) {
  amqp_maybe_release_buffers(state_);
  const timeval at_once{0, 0};
  const int status = amqp_simple_wait_frame_noblock(state_, &frame, &at_once);
  if (status == AMQP_STATUS_TIMEOUT) return false;
  if (status != AMQP_STATUS_OK) return broken(status);
  return true;
}

Error Connection::broken(int status) const {
  return Error::transient(std::string("the connection to the broker broke: ") +
                          amqp_error_string2(status));
}

}  // namespace muster::amqp
