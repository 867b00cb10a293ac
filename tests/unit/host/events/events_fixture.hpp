// A store with events in it and a log on top, in simulated time.
#pragma once

#include <deque>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/events/delivery_store.hpp"
#include "host/events/event_log.hpp"
#include "host/store/memory_store.hpp"
#include "host/store/row.hpp"
#include "lib/base/fake_clock.hpp"

namespace muster::events {

inline Event an_event(std::int64_t number, std::string kind = "worker-running",
                      std::string pool = "proj/build") {
  Event event{.number = number, .kind = std::move(kind), .text = "it happened"};
  event.worker_pool_id = WorkerPoolId(std::move(pool));
  event.provider_id = ProviderId("ec2-us");
  event.launch_config_id = LaunchConfigId("lc-1");
  event.worker_group = WorkerGroup("us-1");
  event.worker_id = WorkerId("i-" + std::to_string(number));
  event.details["capacity"] = 2;
  return event;
}

class EventsTest : public ::testing::Test {
 protected:
  // As the fleet does it: durable first, then told.
  void happen(std::vector<Event> events) {
    store::Batch batch;
    for (Event& event : events) {
      event.at = clock.now();
      batch.emplace_back(store::put(event));
    }
    ASSERT_TRUE(store.commit(batch));
    if (log) log->publish(events);
  }
  void happen(std::int64_t from, std::int64_t to) {
    for (std::int64_t number = from; number <= to; ++number) happen({an_event(number)});
  }
  void erase_up_to(std::int64_t number) {
    for (std::int64_t i = 1; i <= number; ++i)
      ASSERT_TRUE(store.commit({store::erase<Event>({i})}));
  }
  EventLog& make_log(std::size_t in_memory = 10'000) {
    log = std::make_unique<EventLog>(store, in_memory);
    EXPECT_TRUE(log->load());
    return *log;
  }

  // What a cursor brings, with loads from the store as they are needed.
  static std::vector<std::int64_t> drain(Cursor& cursor) {
    std::vector<std::int64_t> numbers;
    for (;;) {
      const auto next = cursor.peek();
      if (next == Cursor::Next::none) return numbers;
      if (next == Cursor::Next::older) {
        EXPECT_TRUE(cursor.load());
        continue;
      }
      numbers.push_back(cursor.event().number);
      cursor.advance();
    }
  }
  static std::vector<std::int64_t> range(std::int64_t from, std::int64_t to) {
    std::vector<std::int64_t> numbers;
    for (; from <= to; ++from) numbers.push_back(from);
    return numbers;
  }

  FakeClock clock;
  store::MemoryStore store;
  std::unique_ptr<EventLog> log;
};

}  // namespace muster::events
