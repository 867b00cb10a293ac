#include "host/fleet/lifecycle/cycling.hpp"

#include <gtest/gtest.h>

namespace muster::lifecycle {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using Window = fleet::Lifecycle::Window;

// A Thursday at midnight, UTC.
constexpr Time thursday = Time(days(0));
constexpr int sunday_number = 0, wednesday_number = 3, thursday_number = 4, friday_number = 5;

TEST(CyclingBudget, a_number_is_that_number_whatever_the_pools_size) {
  EXPECT_EQ(cycling_room({.workers = 1}, 1000), 1);
  EXPECT_EQ(cycling_room({.workers = 0}, 1000), 0);
  EXPECT_EQ(cycling_room({.workers = 5}, 2), 5);
}

TEST(CyclingBudget, a_share_is_rounded_up_so_that_one_worker_can_be_renewed) {
  EXPECT_EQ(cycling_room({.share = 0.1}, 1), 1);
  EXPECT_EQ(cycling_room({.share = 0.1}, 11), 2);
  EXPECT_EQ(cycling_room({.share = 1}, 11), 11);
  EXPECT_EQ(cycling_room({.share = 0}, 11), 0);
  EXPECT_EQ(cycling_room({.share = 0.5}, 0), 0);
}

TEST(CyclingBudget, a_share_that_comes_out_even_is_not_rounded_up) {
  for (int percent = 1; percent <= 100; ++percent)
    EXPECT_EQ(cycling_room({.share = percent / 100.0}, 100), percent);
}

TEST(CyclingWindows, without_any_it_is_always_allowed) {
  EXPECT_TRUE(inside_window({}, thursday));
}

TEST(CyclingWindows, include_their_beginning_and_not_their_end) {
  const std::vector<Window> windows{{.from = 120min, .to = 240min}};
  EXPECT_FALSE(inside_window(windows, thursday + 2h - 1ms));
  EXPECT_TRUE(inside_window(windows, thursday + 2h));
  EXPECT_TRUE(inside_window(windows, thursday + 4h - 1ms));
  EXPECT_FALSE(inside_window(windows, thursday + 4h));
}

TEST(CyclingWindows, a_whole_day_has_no_hole_at_midnight) {
  const std::vector<Window> windows{{.weekdays = {thursday_number}}};
  EXPECT_FALSE(inside_window(windows, thursday - 1ms));
  EXPECT_TRUE(inside_window(windows, thursday));
  EXPECT_TRUE(inside_window(windows, thursday + 24h - 1ms));
  EXPECT_FALSE(inside_window(windows, thursday + 24h));
}

TEST(CyclingWindows, are_on_their_weekdays_only) {
  const std::vector<Window> windows{{.weekdays = {sunday_number}, .from = 0min, .to = 60min}};
  EXPECT_FALSE(inside_window(windows, thursday));
  EXPECT_TRUE(inside_window(windows, thursday + days(3)));
  EXPECT_TRUE(inside_window(windows, thursday + days(10)));
}

TEST(CyclingWindows, over_midnight_belong_to_the_day_on_which_they_begin) {
  const std::vector<Window> windows{
      {.weekdays = {thursday_number}, .from = 22 * 60min, .to = 120min}};
  EXPECT_FALSE(inside_window(windows, thursday + 1h)) << "it began on Wednesday";
  EXPECT_FALSE(inside_window(windows, thursday + 21h));
  EXPECT_TRUE(inside_window(windows, thursday + 23h));
  EXPECT_TRUE(inside_window(windows, thursday + 25h));
  EXPECT_FALSE(inside_window(windows, thursday + 26h));
}

TEST(CyclingWindows, any_of_several_is_enough) {
  const std::vector<Window> windows{{.weekdays = {wednesday_number}, .from = 0min, .to = 60min},
                                    {.weekdays = {friday_number}, .from = 60min, .to = 120min}};
  EXPECT_TRUE(inside_window(windows, thursday - days(1)));
  EXPECT_TRUE(inside_window(windows, thursday + days(1) + 1h));
  EXPECT_FALSE(inside_window(windows, thursday + 1h));
}

TEST(CyclingWindows, the_next_edge_is_never_past_a_change) {
  const std::vector<Window> windows{
      {.weekdays = {thursday_number}, .from = 22 * 60min, .to = 120min},
      {.weekdays = {sunday_number, friday_number}, .from = 90min, .to = 91min}};
  for (Time now = thursday - days(1); now < thursday + days(9); now += 53min) {
    const Time edge = next_window_edge(windows, now);
    ASSERT_GT(edge, now);
    ASSERT_LE(edge, now + 24h);
    for (Time at = now; at < edge; at += 1min)
      ASSERT_EQ(inside_window(windows, at), inside_window(windows, now));
  }
}

}  // namespace
}  // namespace muster::lifecycle
