#include <thread>

#include "tests/unit/host/events/events_fixture.hpp"

namespace muster::events {
namespace {

using ::testing::ElementsAre;
using Next = Cursor::Next;

using EventLogTest = EventsTest;

TEST_F(EventLogTest, an_empty_log_has_nothing_to_say) {
  make_log();
  EXPECT_EQ(log->newest(), 0);
  EXPECT_EQ(*log->oldest(), 1);
  Cursor cursor(*log, 0);
  EXPECT_EQ(cursor.peek(), Next::none);
  EXPECT_FALSE(cursor.lost_some());
}

TEST_F(EventLogTest, numbers_that_were_told_before_are_ignored) {
  make_log();
  happen(1, 3);
  log->publish(std::vector{an_event(2), an_event(3), an_event(4)});
  Cursor cursor(*log, 0);
  EXPECT_EQ(drain(cursor), range(1, 4));
}

TEST_F(EventLogTest, a_number_from_another_life_gives_nothing_and_does_no_harm) {
  make_log();
  happen(1, 3);
  Cursor cursor(*log, 50);
  EXPECT_EQ(cursor.peek(), Next::none);
}

TEST_F(EventLogTest, there_is_no_seam_between_store_and_memory) {
  happen(1, 700);  // before the log: only in the store
  make_log(300);
  happen(701, 2'000);
  EXPECT_GT(log->oldest_in_memory(), 1'000);
  for (const std::int64_t after : {0, 1, 399, 400, 700, 701, 1'500, 1'999, 2'000}) {
    Cursor cursor(*log, after);
    EXPECT_EQ(drain(cursor), range(after + 1, 2'000));
    EXPECT_FALSE(cursor.lost_some());
  }
}

TEST_F(EventLogTest, a_restart_has_the_newest_events_in_memory) {
  happen(1, 700);
  make_log(300);
  EXPECT_EQ(log->newest(), 700);
  EXPECT_LE(log->oldest_in_memory(), 401);
  Cursor cursor(*log, 650);
  EXPECT_EQ(cursor.peek(), Next::here);
}

TEST_F(EventLogTest, a_reader_is_told_that_events_are_gone) {
  happen(1, 600);
  erase_up_to(100);
  make_log(256);
  EXPECT_EQ(*log->oldest(), 101);
  Cursor cursor(*log, 20);
  ASSERT_EQ(cursor.peek(), Next::older);
  ASSERT_TRUE(cursor.load());
  EXPECT_TRUE(cursor.lost_some());
  EXPECT_FALSE(cursor.lost_some());
  EXPECT_EQ(drain(cursor), range(101, 600));
}

TEST_F(EventLogTest, memory_serves_what_the_store_has_lost) {
  make_log(300);
  happen(1, 900);
  erase_up_to(900);
  const std::int64_t first = log->oldest_in_memory();
  Cursor cursor(*log, 20);
  const auto numbers = drain(cursor);
  EXPECT_TRUE(cursor.lost_some());
  EXPECT_EQ(numbers, range(first, 900));
}

TEST_F(EventLogTest, a_gap_in_the_middle_is_told_where_it_is) {
  make_log();
  happen({an_event(1), an_event(2)});
  happen({an_event(5), an_event(6)});
  Cursor cursor(*log, 0);
  std::vector<std::int64_t> numbers;
  for (Next next = cursor.peek(); next != Next::none; next = cursor.peek()) {
    if (next == Next::older) {
      ASSERT_TRUE(cursor.load());
      continue;
    }
    if (cursor.lost_some()) numbers.push_back(-1);
    numbers.push_back(cursor.event().number);
    cursor.advance();
  }
  EXPECT_THAT(numbers, ElementsAre(1, 2, -1, 5, 6));
}

TEST_F(EventLogTest, numbers_go_on_where_the_store_has_forgotten_all) {
  log = std::make_unique<EventLog>(store, 300);
  ASSERT_TRUE(log->load(41));
  EXPECT_EQ(log->newest(), 41);
  Cursor late(*log, 7);
  EXPECT_TRUE(drain(late).empty());
  EXPECT_TRUE(late.lost_some());
  happen({an_event(42)});
  Cursor cursor(*log, 41);
  EXPECT_EQ(drain(cursor), range(42, 42));
}

TEST_F(EventLogTest, one_event_larger_than_a_block_is_no_problem) {
  make_log();
  Event large = an_event(2);
  large.text = std::string(3 * EventBlock::usual_bytes, 'x');
  happen({an_event(1)});
  happen({large});
  happen({an_event(3)});
  Cursor cursor(*log, 0);
  EXPECT_EQ(drain(cursor), range(1, 3));
  EXPECT_GT(log->find(1)->json(0).size(), large.text.size());
}

TEST_F(EventLogTest, a_frame_is_one_line_of_each_kind_whatever_the_text_holds) {
  make_log();
  Event nasty = an_event(1);
  nasty.text = "first\nsecond\r\ndata: forged\n\nid: 9";
  happen({nasty});
  const auto block = log->find(0);
  const std::string frame(block->frames(0, 1));
  EXPECT_TRUE(frame.starts_with("id: 1\nevent: worker-running\ndata: {\"number\":1,")) << frame;
  EXPECT_EQ(std::count(frame.begin(), frame.end(), '\n'), 4);
  EXPECT_EQ(std::count(frame.begin(), frame.end(), '\r'), 0);
  EXPECT_EQ(json::parse_object(block->json(0))->at("text"), json::value(nasty.text));
}

TEST_F(EventLogTest, what_is_empty_is_left_out) {
  EXPECT_EQ(to_json_line(Event{.number = 7, .kind = "plugin-activated", .text = "a"}),
            R"({"number":7,"at":"1970-01-01T00:00:00.000Z","kind":"plugin-activated","text":"a"})");
}

TEST_F(EventLogTest, many_readers_see_every_event_once_while_it_is_written) {
  make_log(300);
  constexpr std::int64_t last = 5'000;
  std::vector<std::vector<std::int64_t>> seen(3);
  std::vector<std::thread> readers;
  for (auto& numbers : seen)
    readers.emplace_back([&] {
      Cursor cursor(*log, 0);
      while (numbers.size() < last) {
        for (const std::int64_t number : drain(cursor)) numbers.push_back(number);
        std::this_thread::yield();
      }
    });
  for (std::int64_t number = 1; number <= last; number += 5)
    happen({an_event(number), an_event(number + 1), an_event(number + 2), an_event(number + 3),
            an_event(number + 4)});
  for (std::thread& reader : readers) reader.join();
  for (const auto& numbers : seen) EXPECT_EQ(numbers, range(1, last));
}

}  // namespace
}  // namespace muster::events
