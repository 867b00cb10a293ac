#include "host/fleet/model/health.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace muster::bidding {
namespace {

using namespace std::chrono_literals;

// The first millisecond of a minute.
constexpr Time start = Time(std::chrono::minutes(1'000'000));

std::int64_t of_class(const HealthCounts& counts, ErrorClass error_class) {
  return counts.errors_by_class[static_cast<std::size_t>(error_class) - 1];
}

TEST(Health, what_cannot_be_read_is_left_out) {
  const json::array written{"text", 5, json::array{1, 2},
                            json::array{"a", 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
  EXPECT_EQ(Health::from_json(written).last_hour(start), HealthCounts{});
}

TEST(Health, minutes_out_of_order_are_left_out) {
  Health late, early;
  late.launched(start + 5min);
  early.launched(start);
  json::array written = late.to_json();
  written.push_back(early.to_json()[0]);
  EXPECT_EQ(Health::from_json(written).last_hour(start + 5min).tried, 1);
}

TEST(Health, counts_nothing_at_first) {
  EXPECT_EQ(Health().last_hour(start), HealthCounts{});
  EXPECT_EQ(Health().next_change(), Time::max());
}

TEST(Health, counts_each_thing_that_happens) {
  Health health;
  health.launched(start);
  health.launched(start);
  health.failed(start, ErrorClass::quota);
  health.failed_later(start + 1min, ErrorClass::internal);
  health.registered(start + 2min);
  health.claimed(start + 3min);
  const HealthCounts counts = health.last_hour(start + 3min);
  EXPECT_EQ(counts.tried, 3);
  EXPECT_EQ(counts.failed, 2);
  EXPECT_EQ(counts.registered, 1);
  EXPECT_EQ(counts.claimed, 1);
  EXPECT_EQ(counts.errors(), 2);
  EXPECT_EQ(of_class(counts, ErrorClass::quota), 1);
  EXPECT_EQ(of_class(counts, ErrorClass::internal), 1);
}

TEST(Health, every_error_class_has_its_own_count) {
  for (int number = 1; number <= 11; ++number) {
    Health health;
    health.failed(start, static_cast<ErrorClass>(number));
    EXPECT_EQ(of_class(health.last_hour(start), static_cast<ErrorClass>(number)), 1);
    EXPECT_EQ(health.last_hour(start).errors(), 1);
  }
}

TEST(Health, forgets_a_minute_exactly_an_hour_after_it_began) {
  Health health;
  health.launched(start + 59s + 999ms);
  EXPECT_EQ(health.last_hour(start + 1h - 1ms).tried, 1);
  EXPECT_EQ(health.last_hour(start + 1h).tried, 0);
  EXPECT_EQ(health.next_change(), start + 1h);
}

TEST(Health, keeps_at_most_an_hour_of_minutes) {
  Health health;
  for (int minute = 0; minute < 500; ++minute) health.launched(start + minute * 1min);
  EXPECT_EQ(health.to_json().size(), 60u);
  EXPECT_EQ(health.last_hour(start + 499min).tried, 60);
}

TEST(Health, a_clock_that_is_set_back_a_little_loses_nothing) {
  Health health;
  health.launched(start + 10min);
  health.launched(start + 5min);
  EXPECT_EQ(health.last_hour(start + 5min).tried, 2);
  EXPECT_EQ(health.last_hour(start + 65min).tried, 0) << "both happened at the new time";
}

TEST(Health, errors_of_a_clock_that_was_a_year_ahead_do_not_count_for_a_year) {
  Health health;
  health.failed(start + 24h * 365, ErrorClass::config);
  EXPECT_EQ(health.last_hour(start).errors(), 0);
  health.launched(start);
  EXPECT_LE(health.last_hour(start).errors(), 1);
  EXPECT_EQ(health.last_hour(start + 1h).errors(), 0);
  EXPECT_EQ(health.last_hour(start + 1h).tried, 0);
}

TEST(Health, survives_being_written_and_read) {
  Health health;
  health.launched(start);
  health.failed(start + 3min, ErrorClass::capacity);
  health.registered(start + 4min);
  health.claimed(start + 59min);
  const Health again = Health::from_json(health.to_json());
  EXPECT_EQ(again.last_hour(start + 59min), health.last_hour(start + 59min));
  EXPECT_EQ(again.to_json(), health.to_json());
  EXPECT_EQ(again.next_change(), health.next_change());
}

TEST(Health, sums_of_counts_add_every_class) {
  HealthCounts a, b;
  a.errors_by_class.fill(1);
  b.errors_by_class.fill(2);
  b.tried = 5;
  EXPECT_EQ((a += b).errors(), 33);
  EXPECT_EQ(a.tried, 5);
}

}  // namespace
}  // namespace muster::bidding
