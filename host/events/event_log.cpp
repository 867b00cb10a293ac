#include "host/events/event_log.hpp"

#include <algorithm>

#include "host/store/row.hpp"

namespace muster::events {

EventLog::EventLog(const store::Store& store, std::size_t in_memory)
    : store_(store), in_memory_(in_memory) {}

Result<void> EventLog::load(std::int64_t newest) {
  std::vector<Event> found;
  auto read = store::read_rows<Event>(
      store_, [&](Event event) { found.push_back(std::move(event)); },
      {.table = &store::table_of<Event>, .backwards = true, .limit = in_memory_});
  if (!read) return read;
  std::reverse(found.begin(), found.end());
  for (const Event& event : found) append(event);
  newest_ = std::max(newest, found.empty() ? 0 : found.back().number);
  return {};
}

void EventLog::publish(std::span<const Event> events) {
  for (const Event& event : events)
    if (event.number > newest()) append(event);
  if (listener_) listener_();
}

// Encoding is done before the lock, and readers of the newest block need none.
void EventLog::append(const Event& event) {
  const std::string json = to_json_line(event);
  // Only this thread changes the list.
  const bool goes_on = !blocks_.empty() && blocks_.back()->last() + 1 == event.number;
  if (!goes_on || !blocks_.back()->append(event, json)) {
    auto block = std::make_shared<EventBlock>(json.size() + event.kind.size());
    block->append(event, json);
    const std::lock_guard guard(mutex_);
    if (!goes_on) {  // what came before is in the store, if anywhere
      blocks_.clear();
      kept_ = 0;
    }
    blocks_.push_back(std::move(block));
    forget_old_ones();
  }
  ++kept_;
  newest_.store(event.number, std::memory_order_release);
}

void EventLog::forget_old_ones() {
  while (blocks_.size() > 1 && kept_ - blocks_.front()->size() >= in_memory_) {
    kept_ -= blocks_.front()->size();
    blocks_.pop_front();
  }
}

std::shared_ptr<const EventBlock> EventLog::find(std::int64_t after) const {
  const std::lock_guard guard(mutex_);
  if (blocks_.empty() || after + 1 < blocks_.front()->first() || after >= newest()) return nullptr;
  const auto past = std::upper_bound(
      blocks_.begin(), blocks_.end(), after + 1,
      [](std::int64_t number, const auto& block) { return number < block->first(); });
  const std::shared_ptr<const EventBlock>& found = *std::prev(past);
  return found->last() > after ? found : nullptr;
}

bool EventLog::is_older_than_memory(std::int64_t after) const {
  const std::lock_guard guard(mutex_);
  return after < newest() && (blocks_.empty() || after + 1 < blocks_.front()->first());
}

std::int64_t EventLog::oldest_in_memory() const {
  const std::lock_guard guard(mutex_);
  return blocks_.empty() ? newest() + 1 : blocks_.front()->first();
}

Result<std::int64_t> EventLog::oldest() const {
  std::int64_t oldest = oldest_in_memory();
  const auto read = store::read_rows<Event>(
      store_, [&](const Event& event) { oldest = std::min(oldest, event.number); },
      {.table = &store::table_of<Event>, .limit = 1});
  if (!read) return read.error();
  return oldest;
}

Result<std::shared_ptr<const EventBlock>> EventLog::read(std::int64_t after) const {
  std::shared_ptr<EventBlock> block;
  bool full = false;
  const auto read = store::read_rows<Event>(
      store_,
      [&](const Event& event) {
        if (full) return;
        const std::string json = to_json_line(event);
        if (!block) block = std::make_shared<EventBlock>(json.size() + event.kind.size());
        full = !block->append(event, json);
      },
      {.table = &store::table_of<Event>, .beyond = after, .limit = EventBlock::usual_events});
  if (!read) return read.error();
  return std::shared_ptr<const EventBlock>(std::move(block));
}

Cursor::Next Cursor::peek() {
  if (block_) end_ = block_->size();
  if (index_ < end_) return Next::here;
  if (log_->newest() <= after_) return Next::none;
  block_ = log_->find(after_);
  if (!block_) {
    index_ = end_ = 0;
    return log_->is_older_than_memory(after_) ? Next::older : Next::none;
  }
  index_ = static_cast<std::size_t>(after_ + 1 - block_->first());
  end_ = block_->size();
  return index_ < end_ ? Next::here : Next::none;
}

Result<void> Cursor::load() {
  auto read = log_->read(after_);
  if (!read) return read.error();
  take(std::move(*read));
  return {};
}

void Cursor::take(std::shared_ptr<const EventBlock> read) {
  const std::int64_t in_memory = log_->oldest_in_memory();
  if (!read || (read->first() > after_ + 1 && read->first() >= in_memory)) {
    // The store has none of them: then memory has the next, and what was before it is gone.
    if (!log_->is_older_than_memory(after_)) return;
    lost_ = true;
    return jump(in_memory - 1);
  }
  if (read->first() > after_ + 1) {
    lost_ = true;
    after_ = read->first() - 1;
  }
  block_ = std::move(read);
  index_ = 0;
  end_ = block_->size();
}

void Cursor::advance(std::size_t events) {
  index_ += events;
  after_ += static_cast<std::int64_t>(events);
}

void Cursor::jump(std::int64_t after) {
  after_ = after;
  block_ = nullptr;
  index_ = end_ = 0;
}

}  // namespace muster::events
