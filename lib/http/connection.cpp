#include "lib/http/connection.hpp"

#include <algorithm>
#include <optional>

#include <boost/asio/dispatch.hpp>

#include "lib/http/answer.hpp"
#include "lib/http/client_address.hpp"

namespace muster::http {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t read_size = 8 * 1024;
constexpr std::size_t kept_input = 32 * 1024;
// Of a stream's peer, which has nothing to say, and of one that sends a body that is not wanted.
constexpr std::size_t discard_size = 512, lingering_size = 32 * 1024;
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

Refusal reason_of(int status) {
  if (status == 431) return Refusal::header_size;
  return status == 413 ? Refusal::body_size : Refusal::malformed;
}

// It comes back in a header and in the log: only what is harmless there.
bool is_trace_id(std::string_view text) {
  return !text.empty() && text.size() <= 128 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

// The trace-id of W3C's header: "00-<32 hex digits>-<16 hex digits>-<2 hex digits>", also of later
// versions, which may have more behind. Nothing of a header that is none.
std::optional<std::string> trace_of(std::string_view header) {
  constexpr std::size_t whole = 55, trace_at = 3, trace_size = 32;
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (header.size() < whole || header.starts_with("ff")) return std::nullopt;
  if (header.starts_with("00") ? header.size() != whole
                               : header.size() > whole && header[whole] != '-')
    return std::nullopt;
  for (std::size_t at = 0; at < whole; ++at)
    if (at == 2 || at == 35 || at == 52 ? header[at] != '-' : !is_hex(header[at]))
      return std::nullopt;
  const std::string_view trace = header.substr(trace_at, trace_size);
  if (trace.find_first_not_of('0') == std::string_view::npos) return std::nullopt;
  return std::string(trace);
}

}  // namespace

Connection::Connection(std::shared_ptr<Lane> lane, std::unique_ptr<Transport> transport,
                       std::unique_ptr<Seat> seat)
    : lane_(std::move(lane)),
      transport_(std::move(transport)),
      seat_(std::move(seat)),
      parser_(lane_->shared->settings.limits),
      peer_(address_of_peer(transport_->peer())) {}

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
  if (!ok) {
    if (transport_->in_handshake()) lane_->traffic.refuse(Refusal::handshake);
    return close();
  }
  lane_->traffic.received_bytes.add(bytes);
  // From the first byte, of an empty line too, to the end of the head there is one deadline.
  if (!std::exchange(head_deadline_set_, true))
    set_deadline(lane_->shared->settings.header_timeout);
  received_ += bytes;
  if (lane_->shared->settings.tls && !transport_->secure()) {
    lane_->traffic.refuse(Refusal::plain_text);
    return refuse(400, code_of(400), "this port speaks HTTPS: write https:// instead of http://");
  }
  process_input();
}

void Connection::process_input() {
  for (bool again = true; again;) {
    const std::size_t used = parser_.feed({input_.data(), received_});
    input_.erase(0, used);
    received_ -= used;
    Request* const head = parser_.take_head();
    if (head && !begin(*head)) return;
    again = head && received_ > 0 && parser_.state() == RequestParser::State::body;
  }
  if (!discarding_ && !count_body()) return;
  switch (parser_.state()) {
    case RequestParser::State::failed:
      if (discarding_) return close();
      lane_->traffic.refuse(reason_of(parser_.failure().status));
      return refuse(parser_.failure().status, code_of(parser_.failure().status),
                    parser_.failure().message);
    case RequestParser::State::complete:
      if (!discarding_) return handle();
      parser_.take();
      return await_request();
    case RequestParser::State::body:
      if (!std::exchange(body_deadline_set_, true))
        set_deadline(lane_->shared->settings.body_timeout);
      if (!discarding_ && parser_.take_expectation() && received_ == 0) {
        state_ = State::continuing;
        head_ = "HTTP/1.1 100 Continue\r\n\r\n";
        return transport_->write(head_, {}, shared_from_this());
      }
      return read_more();
    case RequestParser::State::head:
      return read_more();
  }
}

// Gives the request what only the connection knows, and remembers of it what the answer needs.
void Connection::note(Request& request) {
  request.id = request_id_ = lane_->next_request_id();
  const auto trace = request.header("x-taskcluster-trace-id");
  const auto parent = request.header("traceparent");
  const auto of_parent = parent ? trace_of(*parent) : std::nullopt;
  if (trace && is_trace_id(*trace))
    trace_id_ = *trace;
  else
    trace_id_ = of_parent ? *of_parent : lane_->new_trace_id();
  request.trace_id = trace_id_;
  request.peer = transport_->peer();
  request.secure = transport_->secure();
  method_ = request.method;
  path_ = request.path;
  head_only_ = request.method == "HEAD";
  keep_alive_ = request.keep_alive;
  http_1_0_ = request.http_1_0;
  head_is_known_ = true;
  began_ = lane_->shared->clock.steady();
  find_client(request);
}

void Connection::find_client(Request& request) {
  request.client = peer_;
  sender_.clear();
  counted_ = seat_->peer();
  const auto proxies = lane_->shared->proxies.get();
  if (!proxies || !peer_) return;
  const ClientAddress client = client_address(*peer_, request.headers, *proxies);
  request.client = client.address;
  request.forwarded = client.forwarded;
  if (!client.forwarded || client.address == *peer_) return;
  sender_ = muster::to_string(client.address);
  counted_ = lane_->shared->peers.find(client.address, began_);
}

bool Connection::begin(Request& head) {
  note(head);
  router_ = lane_->shared->router;
  const Router& router = *router_;
  found_ = router.find(head);
  if (auto refusal = over_rate(head)) return answer_head(std::move(*refusal), head), false;
  Router::Admission admission =
      router.admit(found_, head, parser_.announced_length(), lane_->shared->settings.limits);
  if (admission.refusal) return answer_head(std::move(*admission.refusal), head), false;
  known_caller_ = admission.known_caller;
  parser_.limit_body(admission.max_body_bytes,
                     known_caller_ ? "" : ", the most that is read without valid credentials");
  return true;
}

std::optional<Response> Connection::over_rate(const Request& request) {
  const PeerSettings& limits = lane_->shared->settings.peers;
  const auto wait = counted_->charge(limits, began_);
  if (wait <= 0ns) return std::nullopt;
  lane_->traffic.refuse(Refusal::peer_requests);
  const auto seconds = std::to_string(std::chrono::ceil<std::chrono::seconds>(wait).count());
  Response response =
      error_answer(request, 429, "TooManyRequests",
                   "this address sends more than " + std::to_string(limits.requests_per_second) +
                       " requests a second; try again in " + seconds +
                       (seconds == "1" ? " second" : " seconds"));
  response.headers.push_back({"Retry-After", seconds});
  return response;
}

// Before the body is read. What is left of a short one is thrown away, so that the connection can
// be used again; a long one is not worth that.
void Connection::answer_head(Response&& response, const Request& head) {
  const auto rest = parser_.announced_length();
  const bool waits = parser_.take_expectation();
  const bool complete = parser_.state() == RequestParser::State::complete;
  const bool is_short = rest && *rest <= lane_->shared->settings.limits.max_open_body_bytes;
  const Wishes wishes = wishes_of(head);
  api_ = wishes.api;
  response.client_id = head.client_id;
  shape(response, wishes);
  if (complete)
    parser_.take();
  else
    parser_.discard_body();
  discarding_ = !complete;
  refused_ = !complete;  // if it ends here, the rest of the body is waited for
  const bool usable = complete || (is_short && !waits);
  state_ = State::handling;
  send(std::move(response), keep_alive_ && usable);
}

bool Connection::count_body() {
  const std::size_t bytes = parser_.buffered();
  if (bytes == 0) return true;
  const BodyBudgetSettings& room = lane_->shared->settings.bodies;
  if (!hold_) hold_ = std::make_shared<BodyHold>(lane_->shared->bodies, counted_);
  const auto grown = hold_->grow_to(bytes, known_caller_);
  if (grown == BodyHold::Grown::yes) return true;
  if (grown == BodyHold::Grown::no_room) {
    lane_->traffic.refuse(Refusal::all_bodies);
    refuse(503, "ServiceUnavailable",
           "the host holds as many bytes of requests as it may (" + std::to_string(room.of_all) +
               "); try again in a second");
    return false;
  }
  lane_->traffic.refuse(Refusal::peer_bodies);
  refuse(429, "TooManyRequests",
         "the requests of this address hold more than " + std::to_string(room.of_peer) +
             " bytes of memory together; try again in a second");
  return false;
}

void Connection::handle() {
  Request request = parser_.take();
  request.body_hold = std::move(hold_);
  state_ = State::handling;
  began_ = lane_->shared->clock.steady();
  deadline_ = SteadyTime::max();  // the handler's own business
  Wishes wishes = wishes_of(request);
  api_ = wishes.api;
  // The lane lives as long as somebody may still answer; the connection need not.
  auto sink = [lane = lane_, self = weak_from_this(),
               wishes = std::move(wishes)](Response&& response) {
    shape(response, wishes);
    boost::asio::dispatch(lane->io, [self, response = std::move(response)]() mutable {
      if (const auto connection = self.lock())
        connection->send(std::move(response), connection->keep_alive_);
    });
  };
  const Reply reply(std::move(sink), request);
  router_->answer(found_, std::move(request), reply);
}

// Ends the connection. Of a request whose head was not understood nothing is repeated.
void Connection::refuse(int status, std::string_view code, const std::string& message) {
  Request about;
  if (!head_is_known_) {
    request_id_ = lane_->next_request_id();
    trace_id_ = lane_->new_trace_id();
    method_ = path_ = "-";
    sender_.clear();
    found_ = {};
    head_only_ = api_ = false;
  } else {
    about.method = method_;
    about.path = path_;
  }
  about.id = request_id_;
  parser_.discard_body();
  hold_ = nullptr;
  refused_ = true;
  began_ = lane_->shared->clock.steady();
  state_ = State::handling;
  Response response = error_answer(about, status, code, message);
  if (status == 429 || status == 503) response.headers.push_back({"Retry-After", "1"});
  send(std::move(response), false);
}

void Connection::send(Response&& response, bool keep_alive) {
  if (state_ != State::handling) return;
  const bool no_body = response.status == 204 || response.status == 304;
  if (no_body || head_only_) response.stream = nullptr;
  // Closed behind a stream: what the peer sends meanwhile was thrown away.
  keep_alive_ = keep_alive && !draining_ && !lane_->shared->draining && !response.stream;
  using Body = HeadFacts::Body;
  const Body body = no_body            ? Body::none
                    : !response.stream ? Body::sized
                    : http_1_0_        ? Body::until_close
                                       : Body::chunked;
  write_head(
      head_, response,
      {lane_->date(), request_id_, trace_id_, api_, keep_alive_, body, response.body.size()});
  status_ = response.status;
  client_id_ = std::move(response.client_id);
  auto& routes = lane_->traffic.routes;
  routes[std::min(found_.route, routes.size() - 1)].count(status_, time_taken());
  if (response.stream) return begin_stream(std::move(response));
  body_ = no_body || head_only_ ? std::string() : std::move(response.body);
  bytes_ = body_.size();
  lane_->traffic.sent_bytes.add(head_.size() + body_.size());
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
  if (!keep_alive_) return refused_ || received_ > 0 ? linger() : close();
  if (!discarding_) return await_request();
  state_ = State::reading;
  set_deadline(lane_->shared->settings.body_timeout);
  body_deadline_set_ = true;
  process_input();
}

void Connection::await_request() {
  state_ = State::reading;
  discarding_ = body_deadline_set_ = head_is_known_ = known_caller_ = refused_ = false;
  if (received_ == 0 && draining_) return close();
  head_deadline_set_ = received_ > 0;
  set_deadline(head_deadline_set_ ? lane_->shared->settings.header_timeout
                                  : lane_->shared->settings.idle_timeout);
  if (received_ > 0) return process_input();  // it came with the last one
  if (input_.capacity() > kept_input) input_ = {};
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
  input_.resize(state_ == State::lingering ? lingering_size : discard_size);
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
  if (state_ == State::writing || state_ == State::streaming)
    lane_->traffic.refuse(Refusal::write_time);
  const bool midway =
      state_ == State::reading && !discarding_ && (received_ > 0 || parser_.has_begun());
  if (!midway) {
    if (transport_->in_handshake()) lane_->traffic.refuse(Refusal::handshake);
    return close();
  }
  lane_->traffic.refuse(body_deadline_set_ ? Refusal::body_time : Refusal::header_time);
  // A read is pending and keeps its buffer; when it ends, it finds that the state has changed.
  refuse(408, code_of(408), "the request did not arrive in time");
}

std::chrono::microseconds Connection::time_taken() const {
  return std::chrono::duration_cast<std::chrono::microseconds>(lane_->shared->clock.steady() -
                                                               began_);
}

void Connection::write_access_log() const {
  const Shared& shared = *lane_->shared;
  const LogLevel level = path_ == "/healthz" || path_ == "/readyz" || path_ == "/metrics"
                             ? LogLevel::debug
                             : LogLevel::info;
  if (!shared.settings.access_log || !shared.log.enabled(level)) return;
  // The query is left out: it may carry credentials.
  shared.log.write(level, "request",
                   {{"request", request_id_},
                    {"trace", trace_id_},
                    {"peer", sender_.empty() ? transport_->peer() : sender_},
                    {"client", client_id_.empty() ? "-" : client_id_},
                    {"method", method_},
                    {"path", path_},
                    {"status", status_},
                    {"bytes", bytes_},
                    {"microseconds", time_taken().count()}});
}

}  // namespace muster::http
