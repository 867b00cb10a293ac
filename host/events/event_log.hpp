// All events in their order: the newest in memory, the older ones from the store, without a seam.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "host/events/event_block.hpp"
#include "host/store/store.hpp"

namespace muster::events {

// THREADS: any, but publish(), which is called by one at a time.
class EventLog {
 public:
  // The store is borrowed and outlives this. About so many events are kept in memory.
  EventLog(const store::Store& store, std::size_t in_memory);

  // Takes the newest events of the store into memory; `newest` is the number that was given last,
  // as far as the caller knows, in case the store has forgotten it. Before the first publish().
  Result<void> load(std::int64_t newest = 0);

  // Durable events, with growing numbers. Never waits.
  void publish(std::span<const Event> events);

  // Called after each publish(), on its thread; must not wait. Set before the first publish().
  void on_publish(std::function<void()> listener) { listener_ = std::move(listener); }

  std::int64_t newest() const { return newest_.load(std::memory_order_acquire); }
  // Nothing is kept with a smaller number, as far as memory and store know. Waits for the disk.
  Result<std::int64_t> oldest() const;

  // The block in memory that has the event after this number; none if it is older than what memory
  // has, or not there yet.
  std::shared_ptr<const EventBlock> find(std::int64_t after) const;
  bool is_older_than_memory(std::int64_t after) const;
  std::int64_t oldest_in_memory() const;  // the next one to come if there is none

  // The same from the store: the oldest events after this number, up to a gap; none if there are
  // none. Waits for the disk.
  Result<std::shared_ptr<const EventBlock>> read(std::int64_t after) const;

 private:
  void append(const Event& event);
  void forget_old_ones();

  const store::Store& store_;
  const std::size_t in_memory_;
  std::function<void()> listener_;
  std::atomic<std::int64_t> newest_ = 0;

  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<EventBlock>> blocks_;  // without a gap between them, none is empty
  std::size_t kept_ = 0;                            // events in them
};

// One reader's place in the log. THREADS: one at a time.
class Cursor {
 public:
  // Goes on after this number. The log is borrowed.
  Cursor(const EventLog& log, std::int64_t after) : log_(&log), after_(after) {}

  enum class Next { here, none, older };
  // Whether there is a next event: in hand, or not yet, or only in the store: then load() it, or
  // give take() what the log's read() brought, where waiting is not allowed. Never waits.
  Next peek();
  Result<void> load();
  void take(std::shared_ptr<const EventBlock> read);

  // The run of events that is in hand after peek() said so: block()[index() .. end()).
  const EventBlock& block() const { return *block_; }
  std::size_t index() const { return index_; }
  std::size_t end() const { return end_; }
  const Event& event() const { return block_->event(index_); }
  void advance(std::size_t events = 1);

  std::int64_t after() const { return after_; }
  void jump(std::int64_t after);

  // Events that should have been next but are kept no longer were passed over. Told once.
  bool lost_some() { return std::exchange(lost_, false); }

 private:
  const EventLog* log_;
  std::int64_t after_;
  std::shared_ptr<const EventBlock> block_;
  std::size_t index_ = 0, end_ = 0;
  bool lost_ = false;
};

}  // namespace muster::events
