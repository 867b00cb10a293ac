#include "host/events/event_stream.hpp"

#include "lib/http/worker_threads.hpp"

namespace muster::events {
namespace {

constexpr std::size_t most_bytes = 64 << 10;  // for one pull

}  // namespace

// A client that is ahead of this log has read another one: it gets all events of this one.
EventStream::EventStream(StreamParts parts, Filter filter, const EventQuery::Start& start)
    : parts_(std::move(parts)),
      filter_(std::move(filter)),
      all_(filter_.passes_all()),
      cursor_(*parts_.log, start.unknown ? 0 : start.after),
      reset_(start.unknown),
      forgive_loss_(start.unknown || start.oldest),
      last_said_(parts_.clock->steady()) {
  ++*parts_.listeners;
}

EventStream::~EventStream() {
  --*parts_.listeners;
}

http::Stream::More EventStream::pull(std::string& out) {
  const SteadyTime now = parts_.clock->steady();
  const std::size_t before = out.size();
  if (now >= not_before_ && (!loading_ || take_loaded())) fill(out);
  if (out.size() == before) {
    keep_alive(out, now);
    return More::yes;
  }
  last_said_ = now;
  // One that has much to catch up with is not held back.
  if (out.size() - before < most_bytes) not_before_ = now + parts_.settings.gather;
  return More::yes;
}

void EventStream::fill(std::string& out) {
  const std::size_t end = out.size() + most_bytes;
  while (out.size() < end) {
    if (cursor_.lost_some()) reset_ = reset_ || !std::exchange(forgive_loss_, false);
    const Cursor::Next next = cursor_.peek();
    if (reset_ && next != Cursor::Next::older) append_reset(out);
    if (next == Cursor::Next::older) return start_loading();
    if (next == Cursor::Next::none) return;
    append_some(out);
  }
}

// Of the events in hand: all at once if no filter looks at them one by one, but no more than a
// connection likes to take.
void EventStream::append_some(std::string& out) {
  constexpr std::size_t at_once = 64;
  const std::size_t from = cursor_.index(), to = std::min(cursor_.end(), from + at_once);
  if (all_)
    out += cursor_.block().frames(from, to);
  else
    for (std::size_t i = from; i < to; ++i)
      if (filter_.passes(cursor_.block().event(i))) out += cursor_.block().frames(i, i + 1);
  cursor_.advance(to - from);
  forgive_loss_ = false;
}

void EventStream::append_reset(std::string& out) {
  reset_ = false;
  const std::string after = std::to_string(cursor_.after());
  out += "id: " + after + "\nevent: reset\ndata: {\"after\":" + after +
         ",\"newest\":" + std::to_string(parts_.log->newest()) + "}\n\n";
}

void EventStream::start_loading() {
  auto loading = std::make_shared<Loading>();
  const bool started = parts_.readers->run([loading, log = parts_.log, after = cursor_.after()] {
    loading->block = log->read(after);
    loading->done.store(true, std::memory_order_release);
  });
  if (started) loading_ = std::move(loading);  // else the next pull tries again
}

// False: there is nothing to go on with.
bool EventStream::take_loaded() {
  if (!loading_->done.load(std::memory_order_acquire)) return false;
  const auto loaded = std::exchange(loading_, nullptr);
  if (!loaded->block) {
    not_before_ = parts_.clock->steady() + parts_.settings.after_failure;
    return false;
  }
  cursor_.take(*loaded->block);
  return true;
}

// With the number that the filter has come to, so that who comes back need not pass it again.
void EventStream::keep_alive(std::string& out, SteadyTime now) {
  if (now - last_said_ < parts_.settings.keep_alive) return;
  last_said_ = now;
  out += ": keep-alive\nid: " + std::to_string(cursor_.after()) + "\n\n";
}

}  // namespace muster::events
