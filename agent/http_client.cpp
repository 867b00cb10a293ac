#include "agent/http_client.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "agent/http_parser.hpp"
#include "agent/resolver.hpp"
#include "agent/tls.hpp"

namespace muster::agent {

Result<Url> parse_server_url(std::string_view text) {
  auto url = parse_http_url(text);
  if (url) return url;
  if (url.error().code == url_has_user)
    return Error::invalid("the address of a server may not have a user name or a password in it");
  return Error::invalid("\"" + std::string(text) + "\" is not the address of a server: it " +
                        url.error().message);
}

const std::string* HttpAnswer::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? nullptr : &found->second;
}

namespace {

std::string wire_text(const HttpRequest& request, const Url& url) {
  std::string text = request.method + " " + url.target + " HTTP/1.1\r\nHost: " + url.host_header() +
                     "\r\nUser-Agent: muster-agent\r\nConnection: close\r\n";
  for (const auto& [name, value] : request.headers) text += name + ": " + value + "\r\n";
  if (request.body) text += "Content-Length: " + std::to_string(request.body->size()) + "\r\n";
  return text + "\r\n" + request.body.value_or("");
}

bool has_line_end(const HttpRequest& request) {
  return std::ranges::any_of(request.headers, [](const auto& header) {
    return header.second.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos;
  });
}

}  // namespace

class Exchange;

struct HttpClient::Impl {
  EventLoop& loop;
  std::string ca_file;
  std::shared_ptr<TlsContext> trust;
  std::map<std::uint64_t, std::unique_ptr<Exchange>> exchanges;
  std::uint64_t last = 0;
};

// One request on its way.
class Exchange {
 public:
  Exchange(HttpClient::Impl& client, std::uint64_t number, HttpRequest request,
           HttpClient::Done done)
      : client_(client),
        loop_(client.loop),
        number_(number),
        request_(std::move(request)),
        done_(std::move(done)),
        parser_(request_.max_bytes) {
    end_ = loop_.now() + request_.timeout;
    deadline_ = loop_.at(end_, [this] { fail("no answer within " + in_seconds()); });
    start_ = loop_.after(std::chrono::milliseconds(0), [this] { begin(); });
  }
  ~Exchange() {
    for (const auto id : {deadline_, start_, watch_, connect_limit_}) loop_.remove(id);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

 private:
  enum class Step { connecting, handshake, sending, receiving };

  std::string in_seconds() const {
    return std::to_string(std::max<std::int64_t>(1, request_.timeout.count() / 1000)) + " s";
  }

  void begin() {
    auto url = parse_server_url(request_.url);
    if (!url) return fail(url.error().message);
    url_ = std::move(*url);
    if (has_line_end(request_)) return fail("a header has a line end in it");
    to_send_ = wire_text(request_, url_);
    lookup_ = std::make_unique<Lookup>(loop_, url_.address(), url_.port, [this](auto found) {
      if (!found) return fail(found.error().message);
      addresses_ = std::move(*found);
      connect_next("there is no address");
    });
  }

  // Tries one address after the other, each for its share of the time that is left.
  void connect_next(const std::string& why) {
    forget_connection();
    if (tried_ == addresses_.size()) return fail(why);
    const Address& address = addresses_[tried_++];
    socket_ = FileDescriptor(
        ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket_) return connect_next(std::strerror(errno));
    const int on = 1;
    ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    step_ = Step::connecting;
    if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address.storage),
                  address.length) != 0 &&
        errno != EINPROGRESS)
      return connect_next(std::strerror(errno));
    watch_ = loop_.watch(socket_.get(), POLLOUT, [this](short) { ready(); });
    const auto left = static_cast<std::int64_t>(addresses_.size() - tried_ + 1);
    connect_limit_ = loop_.at(loop_.now() + (end_ - loop_.now()) / left,
                              [this] { connect_next("it does not answer"); });
  }

  void forget_connection() {
    loop_.remove(watch_);
    loop_.remove(connect_limit_);
    watch_ = connect_limit_ = 0;
    tls_.reset();
    socket_ = FileDescriptor();
  }

  void ready() {
    switch (step_) {
      case Step::connecting:
        return connected();
      case Step::handshake:
        return handshake();
      case Step::sending:
        return send_some();
      case Step::receiving:
        return receive_some();
    }
  }

  void connected() {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return connect_next(std::strerror(error));
    loop_.remove(connect_limit_);
    connect_limit_ = 0;
    if (!url_.tls) return begin_sending();
    if (!client_.trust) {
      auto made = TlsContext::make(client_.ca_file);
      if (!made) return fail(made.error().message);
      client_.trust = std::move(*made);
    }
    tls_ = std::make_unique<TlsConnection>(client_.trust, socket_.get(), url_.address());
    step_ = Step::handshake;
    handshake();
  }

  void wait_for(Want want) { loop_.change(watch_, want == Want::write ? POLLOUT : POLLIN); }

  void handshake() {
    Want want = Want::read;
    const auto finished = tls_->handshake(want);
    if (!finished) return fail(finished.error().message);
    if (*finished) return begin_sending();
    wait_for(want);
  }

  void begin_sending() {
    step_ = Step::sending;
    send_some();
  }

  void send_some() {
    while (!to_send_.empty()) {
      Want want = Want::write;
      std::size_t sent = 0;
      if (tls_) {
        const auto written = tls_->write(to_send_, want);
        if (!written) return fail(written.error().message);
        sent = *written;
      } else {
        const ssize_t result =
            ::send(socket_.get(), to_send_.data(), to_send_.size(), MSG_NOSIGNAL);
        if (result < 0 && errno != EAGAIN && errno != EINTR) break;  // perhaps it answered already
        sent = result > 0 ? static_cast<std::size_t>(result) : 0;
      }
      to_send_.erase(0, sent);
      if (sent == 0) return wait_for(want);
    }
    step_ = Step::receiving;
    wait_for(Want::read);
    if (tls_) receive_some();
  }

  void receive_some() {
    std::string bytes;
    Want want = Want::read;
    bool open = true;
    if (tls_) {
      const auto more = tls_->read(bytes, want);
      if (!more && bytes.empty()) return fail(more.error().message);
      open = more.has_value() && *more;
    } else {
      char part[16 * 1024];
      const ssize_t got = ::recv(socket_.get(), part, sizeof part, 0);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (got < 0) return fail(std::strerror(errno));
      bytes.assign(part, static_cast<std::size_t>(got));
      open = got > 0;
    }
    const auto complete = parser_.feed(bytes);
    if (!complete) return fail(complete.error().message);
    if (*complete) return finish(parser_.take());
    if (open) return wait_for(want);
    const auto ended = parser_.end();
    if (!ended) return fail(ended.error().message);
    finish(parser_.take());
  }

  void fail(const std::string& why) {
    const std::string server = url_.host.empty() ? request_.url : url_.host_header();
    finish(Error::transient("no answer from " + server + ": " + why));
  }

  void finish(Result<HttpAnswer> answer) {
    const auto done = std::move(done_);
    auto& exchanges = client_.exchanges;
    const auto self = exchanges.extract(number_);  // destroyed when this returns
    done(std::move(answer));
  }

  HttpClient::Impl& client_;
  EventLoop& loop_;
  const std::uint64_t number_;
  const HttpRequest request_;
  HttpClient::Done done_;
  Url url_;
  SteadyTime end_;
  EventLoop::Id deadline_ = 0, start_ = 0, watch_ = 0, connect_limit_ = 0;
  std::unique_ptr<Lookup> lookup_;
  std::vector<Address> addresses_;
  std::size_t tried_ = 0;
  Step step_ = Step::connecting;
  FileDescriptor socket_;
  std::unique_ptr<TlsConnection> tls_;
  std::string to_send_;
  HttpParser parser_;
};

HttpClient::HttpClient(EventLoop& loop, std::string ca_file)
    : impl_(new Impl{loop, std::move(ca_file), {}, {}, 0}) {}

HttpClient::~HttpClient() = default;

std::uint64_t HttpClient::send(HttpRequest request, Done done) {
  const std::uint64_t number = ++impl_->last;
  impl_->exchanges.emplace(
      number, std::make_unique<Exchange>(*impl_, number, std::move(request), std::move(done)));
  return number;
}

void HttpClient::cancel(std::uint64_t request) {
  impl_->exchanges.erase(request);
}

void HttpClient::cancel_all() {
  impl_->exchanges.clear();
}

}  // namespace muster::agent
