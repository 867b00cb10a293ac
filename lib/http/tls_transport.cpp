// OpenSSL straight on the socket: it reads and writes the descriptor, Asio only says when that is
// worth trying. That compiles in a fraction of the time that Asio's own TLS streams take and copies
// nothing twice.
#include "lib/http/tls_transport.hpp"

#include <algorithm>
#include <sys/socket.h>

#include <boost/asio/post.hpp>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "lib/crypto/openssl_pointer.hpp"
#include "lib/http/tcp_transport.hpp"

namespace muster::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t record_size = 16 * 1024;
constexpr unsigned char handshake_record = 0x16;

class TlsTransport final : public Transport {
 public:
  TlsTransport(asio::ip::tcp::socket socket, std::shared_ptr<const TlsContext> context)
      : context_(std::move(context)),
        socket_(std::move(socket)),
        peer_(prepare_socket(socket_)),
        tls_(SSL_new(context_->get())) {
    BIO* const bio = BIO_new(context_->socket_method());
    BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor())));
    BIO_set_init(bio, 1);
    SSL_set_bio(tls_.get(), bio, bio);
    SSL_set_accept_state(tls_.get());
  }

  void read(char* buffer, std::size_t size, std::shared_ptr<TransportUser> user) override {
    into_ = buffer;
    room_ = size;
    try_to_read(std::move(user), true);
  }

  void write(std::string_view head, std::string_view body,
             std::shared_ptr<TransportUser> user) override {
    // One record and one packet for an answer that fits.
    out_ = head;
    const std::size_t with_head =
        std::min(body.size(), record_size - std::min(record_size, head.size()));
    out_ += body.substr(0, with_head);
    rest_ = body.substr(with_head);
    sent_ = 0;
    try_to_write(std::move(user), true);
  }

  void finish_writing() override {
    say_goodbye();
    error_code ignored;
    socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  }

  void close() override {
    say_goodbye();
    error_code ignored;
    socket_.close(ignored);
  }

  const std::string& peer() const override { return peer_; }
  bool secure() const override { return phase_ != Phase::plain; }
  bool in_handshake() const override { return phase_ == Phase::handshake; }

 private:
  enum class Phase { unknown, handshake, open, plain };
  enum class Step { done, wants_read, wants_write, failed };

  int descriptor() { return static_cast<int>(socket_.native_handle()); }

  // The first byte tells TLS from anything else.
  Step look_at_first_byte() {
    unsigned char first = 0;
    const ssize_t got = ::recv(descriptor(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Step::wants_read;
    if (got <= 0) return Step::failed;
    phase_ = first == handshake_record ? Phase::handshake : Phase::plain;
    return Step::done;
  }

  Step step_of(int result) {
    switch (SSL_get_error(tls_.get(), result)) {
      case SSL_ERROR_NONE:
        return Step::done;
      case SSL_ERROR_WANT_READ:
        return Step::wants_read;
      case SSL_ERROR_WANT_WRITE:
        return Step::wants_write;
      case SSL_ERROR_ZERO_RETURN:
        return Step::failed;
      default:
        broken_ = true;
        return Step::failed;
    }
  }

  Step shake_hands() {
    ERR_clear_error();
    const Step step = step_of(SSL_accept(tls_.get()));
    if (step == Step::done) phase_ = Phase::open;
    return step;
  }

  Step read_some(std::size_t& bytes) {
    if (phase_ == Phase::plain) {
      const ssize_t got = ::recv(descriptor(), into_, room_, MSG_DONTWAIT);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Step::wants_read;
      bytes = got > 0 ? static_cast<std::size_t>(got) : 0;
      return got > 0 ? Step::done : Step::failed;
    }
    ERR_clear_error();
    return step_of(SSL_read_ex(tls_.get(), into_, room_, &bytes));
  }

  Step write_some(std::string_view piece, std::size_t& bytes) {
    if (phase_ == Phase::plain) {
      const ssize_t sent =
          ::send(descriptor(), piece.data(), piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return Step::wants_write;
      bytes = sent > 0 ? static_cast<std::size_t>(sent) : 0;
      return sent > 0 ? Step::done : Step::failed;
    }
    ERR_clear_error();
    return step_of(SSL_write_ex(tls_.get(), piece.data(), piece.size(), &bytes));
  }

  void try_to_read(std::shared_ptr<TransportUser> user, bool inside_read) {
    std::size_t bytes = 0;
    Step step = Step::done;
    if (phase_ == Phase::unknown) step = look_at_first_byte();
    if (step == Step::done && phase_ == Phase::handshake) step = shake_hands();
    if (step == Step::done) step = read_some(bytes);
    if (step == Step::wants_read || step == Step::wants_write)
      return when_ready(step, [this, user = std::move(user)](bool ok) mutable {
        if (ok) return try_to_read(std::move(user), false);
        user->on_read(false, 0);
      });
    const bool ok = step == Step::done;
    if (!inside_read) return user->on_read(ok, bytes);
    asio::post(socket_.get_executor(),
               [user = std::move(user), ok, bytes] { user->on_read(ok, bytes); });
  }

  void try_to_write(std::shared_ptr<TransportUser> user, bool inside_write) {
    Step step = phase_ == Phase::open || phase_ == Phase::plain ? Step::done : Step::failed;
    while (step == Step::done && (sent_ < out_.size() || !rest_.empty())) {
      std::size_t bytes = 0;
      const bool first = sent_ < out_.size();
      step = write_some(first ? std::string_view(out_).substr(sent_) : rest_, bytes);
      if (step != Step::done) break;
      if (first)
        sent_ += bytes;
      else
        rest_.remove_prefix(bytes);
    }
    if (step == Step::wants_read || step == Step::wants_write)
      return when_ready(step, [this, user = std::move(user)](bool ok) mutable {
        if (ok) return try_to_write(std::move(user), false);
        user->on_written(false);
      });
    const bool ok = step == Step::done;
    if (!inside_write) return user->on_written(ok);
    asio::post(socket_.get_executor(), [user = std::move(user), ok] { user->on_written(ok); });
  }

  template <class Then>
  void when_ready(Step step, Then then) {
    socket_.async_wait(step == Step::wants_read ? asio::ip::tcp::socket::wait_read
                                                : asio::ip::tcp::socket::wait_write,
                       [then = std::move(then)](error_code error) mutable { then(!error); });
  }

  // So that the peer can tell an end from a cut.
  void say_goodbye() {
    if (phase_ != Phase::open || broken_ || std::exchange(goodbye_, true)) return;
    ERR_clear_error();
    SSL_shutdown(tls_.get());
  }

  const std::shared_ptr<const TlsContext> context_;
  asio::ip::tcp::socket socket_;
  const std::string peer_;
  const OpensslPointer<SSL, SSL_free> tls_;
  Phase phase_ = Phase::unknown;
  bool broken_ = false, goodbye_ = false;
  char* into_ = nullptr;
  std::size_t room_ = 0;
  std::string out_;
  std::string_view rest_;
  std::size_t sent_ = 0;
};

}  // namespace

std::unique_ptr<Transport> tls_transport(asio::ip::tcp::socket socket,
                                         std::shared_ptr<const TlsContext> context) {
  return std::make_unique<TlsTransport>(std::move(socket), std::move(context));
}

}  // namespace muster::http
