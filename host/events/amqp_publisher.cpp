#include "host/events/amqp_publisher.hpp"

#include <algorithm>
#include <unordered_set>

#include "host/events/taskcluster_messages.hpp"

namespace muster::events {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds first_delay = 500ms, longest_delay = 30s, after_refusal = 500ms,
                       after_store_failure = 1s;

}  // namespace

AmqpPublisher::AmqpPublisher(Parts parts, std::int64_t delivered)
    : parts_(std::move(parts)),
      cursor_(*parts_.log, delivered),
      delivered_(delivered),
      saved_(delivered) {
  status_.url = parts_.settings.url;
  status_.delivered = delivered;
}

SteadyTime AmqpPublisher::step() {
  const SteadyTime now = parts_.clock->steady();
  if (!connected_) {
    if (now < not_before_) return not_before_;
    if (const SteadyTime later = connect(now); !connected_) return later;
  }
  SteadyTime next = now + parts_.settings.heartbeat / 2;
  for (bool more = true; more;) {  // events without a message free places for others
    if (const auto taken = take_confirms(); !taken) return fail(taken.error().message), not_before_;
    more = fill();
    const auto published = publish(now);
    if (!published) return fail(published.error().message), not_before_;
    next = std::min(next, *published);
    const std::size_t before = pending_.size();
    settle();
    more = more && pending_.size() < before;
  }
  if (store_not_before_ > now) next = std::min(next, store_not_before_);
  return next;
}

SteadyTime AmqpPublisher::connect(SteadyTime) {
  std::vector<std::string> names;
  for (const std::string& name : exchanges())
    names.push_back(parts_.settings.exchange_prefix + name);
  if (const auto opened = parts_.link->open(names); !opened) {
    fail(opened.error().message);
    return not_before_;
  }
  connected_ = true;
  sent_ = 0;
  under_way_.clear();
  for (Pending& pending : pending_) {
    if (pending.unconfirmed == 0) continue;  // sent; only something before it is not
    pending.under_way = pending.refused = false;
    pending.not_before = {};
    pending.unconfirmed = pending.messages.size();
  }
  parts_.log_lines.info("connected to the message broker", {{"url", parts_.settings.url}});
  const std::lock_guard guard(mutex_);
  status_.connected = true;
  ++status_.connections;
  status_.problem.clear();
  status_.problem_at.reset();
  status_.retry_at.reset();
  return {};
}

void AmqpPublisher::fail(const std::string& problem) {
  parts_.link->close();
  connected_ = false;
  ++failures_;
  const milliseconds delay = backoff();
  not_before_ = parts_.clock->steady() + delay;
  trouble(problem, delay);
  const std::lock_guard guard(mutex_);
  status_.connected = false;
  status_.blocked.clear();
}

milliseconds AmqpPublisher::backoff() const {
  const int doubled = std::min(failures_ - 1, 10);
  const milliseconds longest = std::min<milliseconds>(longest_delay, first_delay * (1 << doubled));
  return milliseconds(static_cast<std::int64_t>(static_cast<double>(longest.count()) *
                                                (0.5 + parts_.random() / 2)));
}

void AmqpPublisher::trouble(const std::string& problem, std::optional<milliseconds> retry) {
  const std::lock_guard guard(mutex_);
  if (status_.problem != problem)
    parts_.log_lines.warning("the message broker does not accept events", {{"problem", problem}});
  status_.problem = problem;
  status_.problem_at = parts_.clock->now();
  if (retry) status_.retry_at = parts_.clock->now() + *retry;
}

Result<void> AmqpPublisher::take_confirms() {
  const auto confirms = parts_.link->receive();
  if (!confirms) return confirms.error();
  for (const Confirm& one : *confirms) {
    if (one.all_before)
      while (!under_way_.empty() && under_way_.begin()->first < one.number)
        confirm(under_way_.begin()->first, one.taken);
    confirm(one.number, one.taken);
  }
  const std::lock_guard guard(mutex_);
  status_.blocked = parts_.link->blocked();
  return {};
}

void AmqpPublisher::confirm(std::uint64_t number, bool taken) {
  const auto found = under_way_.find(number);
  if (found == under_way_.end()) return;
  const std::int64_t event = found->second;
  under_way_.erase(found);
  const auto pending =
      std::lower_bound(pending_.begin(), pending_.end(), event,
                       [](const Pending& one, std::int64_t wanted) { return one.number < wanted; });
  --pending->unconfirmed;
  pending->refused = pending->refused || !taken;
  if (taken) failures_ = 0;
  if (pending->unconfirmed > 0 || !pending->refused) return;
  // All of its messages again, and until then nothing later of its pool.
  pending->under_way = pending->refused = false;
  pending->unconfirmed = pending->messages.size();
  pending->not_before = parts_.clock->steady() + after_refusal;
  trouble("it refused event " + std::to_string(event) +
              " (basic.nack); look for a queue that is full and rejects, or in the broker's log",
          after_refusal);
  const std::lock_guard guard(mutex_);
  ++status_.refused;
}

// True if there is more than there is room for.
bool AmqpPublisher::fill() {
  if (parts_.clock->steady() < store_not_before_) return false;
  while (pending_.size() < parts_.settings.window) {
    const Cursor::Next next = cursor_.peek();
    if (next == Cursor::Next::none) return false;
    if (next == Cursor::Next::older) {
      if (const auto loaded = cursor_.load(); !loaded) {
        trouble("the events cannot be read: " + loaded.error().message, after_store_failure);
        store_not_before_ = parts_.clock->steady() + after_store_failure;
        return false;
      }
      if (cursor_.lost_some()) {
        parts_.log_lines.warning("events that the message broker had not accepted were dropped",
                                 {{"goesOnAfter", cursor_.after()}});
        const std::lock_guard guard(mutex_);
        ++status_.lost;
      }
      continue;
    }
    const Event& event = cursor_.event();
    Pending pending{.number = event.number, .order = event.worker_pool_id.str()};
    for (Message& message : taskcluster_messages(event))
      pending.messages.push_back({parts_.settings.exchange_prefix + message.exchange,
                                  std::move(message.routing_key), std::move(message.body),
                                  std::to_string(event.number), event.at});
    pending.unconfirmed = pending.messages.size();
    if (pending.messages.empty()) {
      const std::lock_guard guard(mutex_);
      ++status_.not_told;
    }
    pending_.push_back(std::move(pending));
    cursor_.advance();
  }
  return true;
}

// The first of every pool that is not under way. Returns when a refused one is due.
Result<SteadyTime> AmqpPublisher::publish(SteadyTime now) {
  SteadyTime next = SteadyTime::max();
  if (!parts_.link->blocked().empty()) return next;
  std::unordered_set<std::string_view> seen;
  for (Pending& pending : pending_) {
    if (pending.unconfirmed == 0 || !seen.insert(pending.order).second || pending.under_way)
      continue;
    if (now < pending.not_before)
      next = std::min(next, pending.not_before);
    else if (const auto sent = send(pending); !sent)
      return sent.error();
  }
  return next;
}

Result<void> AmqpPublisher::send(Pending& pending) {
  pending.under_way = true;
  for (const AmqpMessage& message : pending.messages) {
    if (const auto published = parts_.link->publish(message); !published) return published;
    under_way_[++sent_] = pending.number;
  }
  return {};
}

// Saves how far everything is confirmed, one commit at a time.
void AmqpPublisher::settle() {
  std::int64_t published = 0;
  while (!pending_.empty() && pending_.front().unconfirmed == 0) {
    delivered_ = pending_.front().number;
    published += static_cast<std::int64_t>(pending_.front().messages.size());
    pending_.pop_front();
  }
  {
    const std::lock_guard guard(mutex_);
    status_.delivered = delivered_;
    status_.published += published;
    if (published > 0 && connected_) {
      status_.problem.clear();
      status_.problem_at.reset();
      status_.retry_at.reset();
    }
  }
  if (delivered_ == saved_ || saving_->busy) return;
  saved_ = delivered_;
  saving_->busy = true;
  parts_.deliveries->save(consumer, saved_, {}, [saving = saving_, wake = parts_.wake] {
    saving->busy = false;
    wake();
  });
}

AmqpStatus AmqpPublisher::status() const {
  const std::lock_guard guard(mutex_);
  AmqpStatus status = status_;
  status.lag = std::max<std::int64_t>(0, parts_.log->newest() - status.delivered);
  return status;
}

}  // namespace muster::events
