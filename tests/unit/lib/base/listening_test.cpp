#include "lib/base/listening.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto longest_return = 10min;
const Time start(1000h);
const Time settled = start + longest_return;

// Long after its start.
Listening listening() {
  return Listening(start, longest_return);
}

TEST(Listening, silence_is_what_the_clock_says_while_nothing_happens) {
  const Listening heard = listening();
  EXPECT_EQ(heard.deadline(settled, 60s), settled + 60s);
  EXPECT_TRUE(heard.heard_all(settled, settled + 1h));
  EXPECT_EQ(heard.judges_from(), settled);
  EXPECT_THAT(heard.last_moments(start), IsEmpty());
}

TEST(Listening, time_in_which_nobody_was_heard_is_nobodys_silence) {
  Listening heard = listening();
  const Time from = settled + 1h;
  heard.was_deaf(from, from + 75s);
  EXPECT_EQ(heard.deadline(from - 50s, 60s), from + 75s + 60s + 10s)
      << "10 s were left, and 60 s of the 75 s to come back are enough for him";
  EXPECT_EQ(heard.deadline(from - 50s, 1h), from - 50s + 1h + 75s + 75s);
  EXPECT_EQ(heard.judges_from(), from + 150s);
}

TEST(Listening, a_gap_forgives_nothing_that_was_over_before_it_or_began_after_it) {
  Listening heard = listening();
  const Time from = settled + 1h;
  heard.was_deaf(from, from + 75s);
  EXPECT_EQ(heard.deadline(from - 60s, 60s), from);
  EXPECT_EQ(heard.deadline(from + 75s, 60s), from + 135s) << "he came back at once";
  EXPECT_EQ(heard.deadline(from + 30s, 60s), from + 75s + 120s);
}

TEST(Listening, short_gaps_that_come_again_and_again_do_not_keep_the_dead_alive) {
  Listening heard = listening();
  const Time dead = settled + 1h;
  Time now = dead;
  for (; now < heard.deadline(dead, 60s); now += 30s) {
    heard.was_deaf(now + 10s, now + 13s);
    ASSERT_LT(now, dead + 3min);
  }
}

TEST(Listening, many_gaps_need_no_more_memory_and_forgive_no_less) {
  Listening few = listening(), many = listening();
  const Time first = settled + 1h;
  few.was_deaf(first, first + 10s);
  for (int i = 0; i < 1000; ++i) many.was_deaf(first + i * 1min, first + i * 1min + 10s);
  EXPECT_GE(many.deadline(first - 10s, 24h), few.deadline(first - 10s, 24h) + 999 * 10s);
}

TEST(Listening, an_hour_that_never_passed_is_nobodys_silence) {
  Listening heard = listening();
  const Time before = settled + 1h, now = before + 1h;
  heard.clock_was_set(before, now);
  EXPECT_EQ(heard.deadline(before - 10s, 60s), now + 50s + 60s);
  EXPECT_FALSE(heard.heard_all(before - 1s, now + 1s));
  EXPECT_TRUE(heard.heard_all(now, now + 1s));
  EXPECT_EQ(heard.judges_from(), now + longest_return);
  EXPECT_THAT(heard.last_moments(now), ElementsAre(before));
  EXPECT_THAT(heard.last_moments(now + longest_return), IsEmpty()) << "it is bounded";
}

TEST(Listening, a_clock_that_is_set_back_forgets_what_it_said_of_the_future) {
  Listening heard = listening();
  const Time before = settled + 2h, now = before - 1h;
  heard.was_deaf(before - 30min, before - 20min);
  heard.clock_was_set(before, now);
  EXPECT_EQ(heard.deadline(now, 60s), now + 60s);
  EXPECT_FALSE(heard.heard_all(now - 1s, now + 1s)) << "who measured across it measured nothing";
  EXPECT_THAT(heard.last_moments(now), ElementsAre(before));
  EXPECT_EQ(heard.judges_from(), now + longest_return);
}

TEST(Listening, the_time_to_come_back_passes_only_while_somebody_listens) {
  Listening heard = listening();
  const Time from = settled + 1h;
  heard.was_deaf(from, from + 5min);
  heard.was_deaf(from + 6min, from + 7min);
  EXPECT_EQ(heard.judges_from(), from + 5min + 5min + 1min);
  EXPECT_THAT(heard.last_moments(from + 7min), ElementsAre(from, from + 6min));
  heard.clock_was_set(from + 8min, from + 8min - 30min);
  EXPECT_EQ(heard.judges_from(), from + 8min - 30min + 10min);
}

TEST(Listening, the_time_between_two_lives_of_a_program_is_nobodys_silence) {
  Listening heard = listening();
  heard.heard_before_start(start - 24h);
  EXPECT_EQ(heard.deadline(start - 25h, 2h), start + 1h + longest_return);
  EXPECT_EQ(heard.deadline(start - 25h, 1h), start - 24h) << "it was over before the end";
  EXPECT_FALSE(heard.heard_all(start - 25h, start + 1s));
  EXPECT_THAT(heard.last_moments(start), ElementsAre(start - 24h));
}

TEST(Listening, a_life_that_ended_in_the_future_of_this_one_ended_now) {
  Listening heard = listening();
  heard.heard_before_start(start + 1h);
  EXPECT_EQ(heard.deadline(start - 1min, 2min), start + 1min);
  EXPECT_EQ(heard.judges_from(), settled);
  EXPECT_THAT(heard.last_moments(start), ElementsAre(start + 1h));
}

}  // namespace
}  // namespace muster
