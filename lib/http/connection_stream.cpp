// Answers without a known end. What one costs is bounded: one piece on its way, made only when the
// last one was taken, and given back when there is nothing to say.
#include <cstdio>
#include <exception>

#include "lib/http/connection.hpp"

namespace muster::http {
namespace {

constexpr std::size_t kept_buffer = 2 * 1024;
// A piece of this size says that more waits behind it: it is asked for at once, not at the tick.
constexpr std::size_t large_piece = 16 * 1024;

}  // namespace

void Connection::begin_stream(Response&& response) {
  state_ = State::streaming;
  stream_ = std::move(response.stream);
  chunked_ = !http_1_0_;
  last_piece_ = false;
  bytes_ = 0;
  body_ = std::move(response.body);
  input_ = {};
  received_ = 0;
  discard_more();  // and so learn when the peer goes
  lane_->add_stream(shared_from_this());
  write_piece(false);
}

// `head_` may hold the answer's head; `body_` is the piece.
void Connection::write_piece(bool last) {
  bytes_ += body_.size();
  last_piece_ = last;
  if (chunked_ && !body_.empty()) {
    char size[24];
    std::snprintf(size, sizeof size, "%zx\r\n", body_.size());
    head_ += size;
    body_ += "\r\n";
  }
  if (chunked_ && last) body_ += "0\r\n\r\n";
  piece_on_its_way_ = true;
  lane_->traffic.sent_bytes.add(head_.size() + body_.size());
  set_deadline(lane_->shared->settings.write_timeout);
  transport_->write(head_, body_, shared_from_this());
}

void Connection::on_piece_written() {
  piece_on_its_way_ = false;
  deadline_ = SteadyTime::max();  // a stream may have nothing to say for as long as it likes
  if (last_piece_) {
    write_access_log();
    return linger();
  }
  const bool large = body_.size() >= large_piece;
  head_.clear();
  body_.clear();
  if (draining_) return end_stream();
  if (large) return pull_stream();
  if (body_.capacity() > kept_buffer) body_ = {};
  if (head_.capacity() > kept_buffer) head_ = {};
}

void Connection::pull_stream() {
  if (state_ != State::streaming || piece_on_its_way_) return;
  bool last = false;
  try {
    last = stream_->pull(body_) == Stream::More::end;
  } catch (const std::exception& error) {  // the peer sees that the end is missing
    lane_->shared->log.error("a stream failed", {{"request", request_id_}, {"what", error.what()}});
    return close();
  }
  if (last) stream_ = nullptr;
  if (last || !body_.empty()) write_piece(last);
}

void Connection::end_stream() {
  if (piece_on_its_way_) return;  // draining_ ends it behind that piece
  stream_ = nullptr;
  write_piece(true);
}

}  // namespace muster::http
