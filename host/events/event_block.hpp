// Consecutive events without a gap, each encoded once for all its readers.
//
// A frame is what server-sent events need:
//   id: 17\nevent: worker-running\ndata: {"number":17,...}\n\n
// and the JSON within it is what pages and webhooks send.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "host/events/model/event.hpp"

namespace muster::events {

// The event as one line of JSON: without what is empty.
std::string to_json_line(const Event& event);

// THREADS: one writer appends while any number of readers look at the first size() events, which
// never change.
class EventBlock {
 public:
  static constexpr std::size_t usual_bytes = 128 << 10;
  static constexpr std::size_t usual_events = 256;

  // With room for an event that is encoded in so many bytes.
  explicit EventBlock(std::size_t at_least_bytes = 0);

  // False if there is no room, or the number is not the next one.
  bool append(const Event& event, std::string_view json);

  std::size_t size() const { return size_.load(std::memory_order_acquire); }
  const Event& event(std::size_t i) const { return entries_[i].event; }
  std::string_view json(std::size_t i) const;
  // Of the events [from, to) together.
  std::string_view frames(std::size_t from, std::size_t to) const;

  std::int64_t first() const { return entries_[0].event.number; }  // of a block that is not empty
  std::int64_t last() const { return first() + static_cast<std::int64_t>(size()) - 1; }

 private:
  struct Entry {
    Event event;
    std::size_t begin = 0, json = 0, end = 0;
  };

  void write(std::string_view text);

  std::size_t capacity_, used_ = 0;
  std::unique_ptr<char[]> bytes_;
  std::unique_ptr<Entry[]> entries_;
  std::atomic<std::size_t> size_ = 0;
};

}  // namespace muster::events
