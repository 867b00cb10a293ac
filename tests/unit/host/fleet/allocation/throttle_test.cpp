#include "host/fleet/allocation/throttle.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace muster::allocation {
namespace {

using namespace std::chrono_literals;

constexpr Time start = Time(100'000h);

TEST(Throttle, settings_that_let_nobody_through_are_mended) {
  Throttle throttle({.launches_per_second = 0, .burst = 0, .calls_at_once = 0});
  EXPECT_EQ(throttle.room(start), 1);
  throttle.begin(1);
  throttle.ended(false);
  EXPECT_EQ(throttle.room(start), 0);
  EXPECT_GT(throttle.next(start), start);
  EXPECT_LE(throttle.next(start), start + 1h + 1s);
  Throttle strange(
      {.launches_per_second = std::nan(""), .burst = std::nan(""), .calls_at_once = -4});
  EXPECT_EQ(strange.room(start), 1);
}

TEST(Throttle, a_burst_goes_at_once_and_then_nothing) {
  Throttle throttle({.launches_per_second = 10, .burst = 100, .calls_at_once = 4});
  EXPECT_EQ(throttle.room(start), 100);
  throttle.begin(100);
  EXPECT_EQ(throttle.room(start), 0);
}

TEST(Throttle, tokens_come_back_at_the_rate_and_no_more_than_the_burst) {
  Throttle throttle({.launches_per_second = 10, .burst = 20, .calls_at_once = 4});
  throttle.room(start);
  throttle.begin(20);
  EXPECT_EQ(throttle.room(start + 99ms), 0);
  EXPECT_EQ(throttle.room(start + 100ms), 1);
  EXPECT_EQ(throttle.room(start + 1s), 10);
  EXPECT_EQ(throttle.room(start + 1h), 20);
}

TEST(Throttle, a_call_for_many_waits_until_it_is_worth_making) {
  Throttle throttle({.launches_per_second = 10, .burst = 100, .calls_at_once = 4});
  EXPECT_EQ(throttle.room(start, 1000), 100);
  throttle.begin(100);
  EXPECT_EQ(throttle.room(start + 1s, 1000), 0) << "10 of 20";
  EXPECT_EQ(throttle.room(start + 1s, 11), 0);
  EXPECT_EQ(throttle.room(start + 1s, 10), 10) << "all that are wanted";
  const Time next = throttle.next(start + 1s, 1000);
  EXPECT_LE(next, start + 2s + 2ms);
  EXPECT_EQ(throttle.room(next, 1000), 20);
  Throttle small({.launches_per_second = 10, .burst = 3, .calls_at_once = 4});
  EXPECT_EQ(small.room(start, 1000), 3) << "there will never be room for more";
}

TEST(Throttle, no_more_calls_at_once_than_allowed) {
  Throttle throttle({.launches_per_second = 10, .burst = 100, .calls_at_once = 2});
  throttle.room(start);
  throttle.begin(1);
  throttle.begin(1);
  EXPECT_EQ(throttle.room(start), 0);
  EXPECT_EQ(throttle.next(start), Time::max()) << "it waits for a call to end";
  throttle.ended(false);
  EXPECT_EQ(throttle.room(start), 98);
}

TEST(Throttle, next_says_when_there_is_room_again) {
  Throttle throttle({.launches_per_second = 3, .burst = 5, .calls_at_once = 4});
  throttle.room(start);
  throttle.begin(5);
  ASSERT_EQ(throttle.room(start), 0);
  const Time next = throttle.next(start);
  EXPECT_EQ(throttle.room(next - 5ms), 0);
  EXPECT_EQ(throttle.room(next), 1);
}

TEST(Throttle, too_fast_halves_the_rate_and_empties_the_bucket) {
  Throttle throttle({.launches_per_second = 16, .burst = 100, .calls_at_once = 4});
  throttle.room(start);
  throttle.begin(1);
  throttle.ended(true);
  EXPECT_EQ(throttle.rate(), 8);
  EXPECT_EQ(throttle.room(start), 0);
  EXPECT_EQ(throttle.room(start + 1s), 8);
}

TEST(Throttle, however_often_it_was_too_fast_it_never_stops) {
  Throttle throttle({.launches_per_second = 64, .burst = 100, .calls_at_once = 4});
  for (int i = 0; i < 100; ++i) {
    throttle.begin(0);
    throttle.ended(true);
  }
  EXPECT_EQ(throttle.rate(), 1);
}

TEST(Throttle, the_rate_comes_back_by_a_tenth_with_each_good_call) {
  Throttle throttle({.launches_per_second = 10, .burst = 100, .calls_at_once = 4});
  throttle.begin(1);
  throttle.ended(true);
  for (int i = 0; i < 4; ++i) {
    throttle.begin(1);
    throttle.ended(false);
  }
  EXPECT_DOUBLE_EQ(throttle.rate(), 9);
  for (int i = 0; i < 4; ++i) throttle.begin(1), throttle.ended(false);
  EXPECT_DOUBLE_EQ(throttle.rate(), 10);
}

TEST(Throttle, a_clock_that_is_set_back_gives_nothing_and_takes_nothing) {
  Throttle throttle({.launches_per_second = 10, .burst = 20, .calls_at_once = 4});
  throttle.room(start);
  throttle.begin(20);
  EXPECT_EQ(throttle.room(start - 1h), 0);
  EXPECT_EQ(throttle.room(start - 1h + 1s), 10);
}

TEST(Throttle, calls_on_their_way_count_under_changed_settings) {
  Throttle throttle({.launches_per_second = 10, .burst = 20, .calls_at_once = 4});
  throttle.room(start);
  throttle.begin(1);
  throttle.change({.launches_per_second = 5, .burst = 7, .calls_at_once = 1});
  EXPECT_EQ(throttle.calls(), 1);
  EXPECT_EQ(throttle.room(start), 0);
  throttle.ended(false);
  EXPECT_EQ(throttle.calls(), 0);
  EXPECT_EQ(throttle.room(start), 7);
}

}  // namespace
}  // namespace muster::allocation
