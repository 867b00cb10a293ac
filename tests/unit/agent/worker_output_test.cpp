// What the implementation prints: taken in pieces that are text, the newest of it.
#include "agent/worker_output.hpp"

#include <unistd.h>

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

class WorkerOutputTest : public ::testing::Test {
 protected:
  void print(std::string_view text) {
    ASSERT_EQ(::write(output.descriptor(), text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
    output.drain();
  }
  EventLoop loop;
  WorkerOutput output{loop};
};

TEST_F(WorkerOutputTest, is_taken_once_with_its_position) {
  print("one\n");
  auto part = output.take();
  EXPECT_EQ(part.from, 0);
  EXPECT_EQ(part.next, 4);
  EXPECT_EQ(part.text, "one\n");
  EXPECT_TRUE(output.empty());
  print("two\n");
  part = output.take();
  EXPECT_EQ(part.from, 4);
  EXPECT_EQ(part.text, "two\n");
}

TEST_F(WorkerOutputTest, keeps_the_newest_and_says_how_much_came_before) {
  for (int at = 0; at < 10; ++at) print(std::string(4096, static_cast<char>('0' + at)));
  const auto part = output.take();
  EXPECT_EQ(part.text.size(), WorkerOutput::most_bytes);
  EXPECT_EQ(part.from, 40960 - static_cast<std::int64_t>(WorkerOutput::most_bytes));
  EXPECT_EQ(part.text.back(), '9');
}

TEST_F(WorkerOutputTest, a_character_that_is_cut_waits_for_its_end) {
  print("a\xE2\x82");
  EXPECT_EQ(output.take().text, "a");
  print("\xAC");
  const auto part = output.take();
  EXPECT_EQ(part.from, 1);
  EXPECT_EQ(part.text, "\u20ac");
}

TEST_F(WorkerOutputTest, bytes_that_are_no_text_stay_within_the_limit) {
  for (int at = 0; at < 4; ++at) print(std::string(4096, '\xFF'));
  const auto part = output.take();
  EXPECT_LE(part.text.size(), WorkerOutput::most_bytes);
  EXPECT_EQ(part.next, 16384);
}

}  // namespace
}  // namespace muster::agent
