#include "host/http/connection.hpp"

#include <boost/asio/dispatch.hpp>

#include "host/http/answer.hpp"

namespace muster::http {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t read_size = 8 * 1024;
constexpr std::size_t discard_size = 512;
constexpr auto linger_time = 2s;

std::string_view code_of(int status) {
  switch (status) {
    case 408:
      return "RequestTimeout";
    case 413:
      return "InputTooLarge";
    case 431:
      return "HeadersTooLarge";
    case 501:
      return "NotImplemented";
    case 505:
      return "VersionNotSupported";
    default:
      return "InputError";
  }
}

}  // namespace

Connection::Connection(std::shared_ptr<Lane> lane, std::unique_ptr<Transport> transport)
    : lane_(std::move(lane)),
      transport_(std::move(transport)),
      parser_(lane_->shared->settings.limits) {}

void Connection::set_deadline(std::chrono::milliseconds from_now) {
  deadline_ = lane_->shared->clock.steady() + from_now;
}

void Connection::start() {
  set_deadline(lane_->shared->settings.header_timeout);
  read_more();
}

void Connection::read_more() {
  state_ = State::reading;
  input_.resize(received_ + read_size);
  read_pending_ = true;
  transport_->read(input_.data() + received_, read_size, shared_from_this());
}

void Connection::on_read(bool ok, std::size_t bytes) {
  read_pending_ = false;
  if (state_ == State::closed) return;
  if (state_ == State::lingering || state_ == State::streaming)
    return ok ? discard_more() : close();
  if (state_ != State::reading) return;  // refused in the meantime: see check_deadline()
  if (!ok) return close();
  if (received_ == 0 && !parser_.has_begun()) set_deadline(lane_->shared->settings.header_timeout);
  received_ += bytes;
  process_input();
}

void Connection::process_input() {
  const std::size_t used = parser_.feed({input_.data(), received_});
  input_.erase(0, used);
  received_ -= used;
  switch (parser_.state()) {
    case RequestParser::State::failed:
      return refuse(parser_.failure().status, code_of(parser_.failure().status),
                    parser_.failure().message);
    case RequestParser::State::complete:
      return handle();
    case RequestParser::State::body:
      if (!std::exchange(body_deadline_set_, true))
        set_deadline(lane_->shared->settings.body_timeout);
      if (parser_.take_expectation() && received_ == 0) {
        state_ = State::continuing;
        head_ = "HTTP/1.1 100 Continue\r\n\r\n";
        return transport_->write(head_, {}, shared_from_this());
      }
      return read_more();
    case RequestParser::State::head:
      return read_more();
  }
}

void Connection::handle() {
  Request request = parser_.take();
  request.id = request_id_ = lane_->next_request_id();
  request.peer = transport_->peer();
  method_ = request.method;
  path_ = request.path;
  head_only_ = request.method == "HEAD";
  keep_alive_ = request.keep_alive;
  http_1_0_ = request.http_1_0;
  began_ = lane_->shared->clock.steady();
  state_ = State::handling;
  deadline_ = SteadyTime::max();  // the handler's own business
  // The lane lives as long as somebody may still answer; the connection need not.
  auto sink = [lane = lane_, self = weak_from_this()](Response&& response) {
    boost::asio::dispatch(lane->io, [self, response = std::move(response)]() mutable {
      if (const auto connection = self.lock())
        connection->send(std::move(response), connection->keep_alive_);
    });
  };
  const Reply reply(std::move(sink), request);
  lane_->shared->router.route(std::move(request), reply);
}

void Connection::refuse(int status, std::string_view code, const std::string& message) {
  Request about;  // whatever it was, it is not to be trusted with more than this
  about.id = request_id_ = lane_->next_request_id();
  method_ = path_ = "-";
  head_only_ = false;
  refused_ = true;
  began_ = lane_->shared->clock.steady();
  state_ = State::handling;
  send(error_answer(about, status, code, message), false);
}

void Connection::send(Response&& response, bool keep_alive) {
  if (state_ != State::handling) return;
  const bool no_body = response.status == 204 || response.status == 304;
  if (no_body || head_only_) response.stream = nullptr;
  // Closed behind a stream: what the peer sends meanwhile was thrown away.
  keep_alive_ = keep_alive && !draining_ && !lane_->shared->draining && !response.stream;
  head_ = "HTTP/1.1 " + std::to_string(response.status) + " ";
  head_ += reason_phrase(response.status);
  head_ += "\r\nDate: " + lane_->date() + "\r\nX-Request-Id: " + request_id_;
  for (const Header& header : response.headers) {
    head_ += "\r\n";
    head_ += header.name;
    head_ += ": ";
    head_ += header.value;
  }
  if (response.stream && !http_1_0_)
    head_ += "\r\nTransfer-Encoding: chunked";
  else if (!no_body && !response.stream)
    head_ += "\r\nContent-Length: " + std::to_string(response.body.size());
  head_ += keep_alive_ ? "\r\nConnection: keep-alive\r\n\r\n" : "\r\nConnection: close\r\n\r\n";
  status_ = response.status;
  if (response.stream) return begin_stream(std::move(response));
  body_ = no_body || head_only_ ? std::string() : std::move(response.body);
  bytes_ = body_.size();
  write_access_log();
  state_ = State::writing;
  set_deadline(lane_->shared->settings.write_timeout);
  transport_->write(head_, body_, shared_from_this());
}

void Connection::on_written(bool ok) {
  if (state_ == State::closed) return;
  if (!ok) return close();
  if (state_ == State::continuing) return read_more();
  if (state_ == State::streaming) return on_piece_written();
  body_ = {};
  body_deadline_set_ = false;
  if (!keep_alive_) return refused_ || received_ > 0 ? linger() : close();
  state_ = State::reading;
  if (received_ == 0 && draining_) return close();
  set_deadline(received_ == 0 ? lane_->shared->settings.idle_timeout
                              : lane_->shared->settings.header_timeout);
  if (received_ > 0) return process_input();  // it came with the last one
  read_more();
}

// Closing a socket with unread bytes resets the connection, and the peer may lose the answer.
void Connection::linger() {
  state_ = State::lingering;
  set_deadline(linger_time);
  transport_->finish_writing();
  if (!read_pending_) discard_more();
}

void Connection::discard_more() {
  input_.resize(discard_size);
  read_pending_ = true;
  transport_->read(input_.data(), input_.size(), shared_from_this());
}

void Connection::drain() {
  draining_ = true;
  if (state_ == State::streaming) return end_stream();
  if (state_ == State::reading && received_ == 0 && !parser_.has_begun()) close();
}

void Connection::close() {
  if (state_ == State::closed) return;
  if (state_ == State::streaming) write_access_log();
  state_ = State::closed;
  stream_ = nullptr;
  transport_->close();
  lane_->forget(shared_from_this());
}

void Connection::check_deadline(SteadyTime now) {
  if (now < deadline_) return;
  const bool midway = state_ == State::reading && (received_ > 0 || parser_.has_begun());
  if (!midway) return close();
  // A read is pending and keeps its buffer; when it ends, it finds that the state has changed.
  refuse(408, code_of(408), "the request did not arrive in time");
}

void Connection::write_access_log() const {
  const Shared& shared = *lane_->shared;
  const LogLevel level =
      path_ == "/healthz" || path_ == "/readyz" ? LogLevel::debug : LogLevel::info;
  if (!shared.settings.access_log || !shared.log.enabled(level)) return;
  const auto took =
      std::chrono::duration<double, std::milli>(shared.clock.steady() - began_).count();
  // The query is left out: it may carry credentials.
  shared.log.write(level, "request",
                   {{"request", request_id_},
                    {"peer", transport_->peer()},
                    {"method", method_},
                    {"path", path_},
                    {"status", status_},
                    {"bytes", bytes_},
                    {"milliseconds", took}});
}

}  // namespace muster::http
