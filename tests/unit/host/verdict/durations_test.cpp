// What was measured, and what it says about the next time.
#include "host/verdict/durations.hpp"

#include <gtest/gtest.h>

namespace muster::verdict {
namespace {

using namespace std::chrono_literals;

Durations of(std::initializer_list<std::chrono::milliseconds> times) {
  Durations durations;
  for (const auto time : times) durations.add(time);
  return durations;
}

TEST(Durations, nothing_known_ends_never) {
  const Durations none;
  EXPECT_EQ(none.quantile(0.5), 0ms);
  EXPECT_EQ(none.mean(), 0ms);
  EXPECT_EQ(none.lasts_longer_than(24h), 1);
}

TEST(Durations, nonsense_is_made_sense_of) {
  Durations durations = of({-5s, 0s});
  EXPECT_EQ(durations.quantile(0.9), 1ms) << "a clock was set back";
  durations.add(std::chrono::hours(24 * 365));
  EXPECT_GT(durations.quantile(1), std::chrono::hours(24 * 40)) << "as much as fits";
}

TEST(Durations, quantiles_are_of_what_was_measured) {
  const Durations durations = of({50s, 10s, 40s, 20s, 30s});
  EXPECT_EQ(durations.quantile(0), 10s);
  EXPECT_EQ(durations.quantile(0.5), 30s);
  EXPECT_EQ(durations.quantile(1), 50s);
  EXPECT_EQ(durations.mean(), 30s);
}

TEST(Durations, only_the_newest_count) {
  Durations durations;
  for (int i = 0; i < 100; ++i) durations.add(1h);
  for (std::size_t i = 0; i < Durations::most; ++i) durations.add(1s);
  EXPECT_EQ(durations.size(), Durations::most);
  EXPECT_EQ(durations.quantile(1), 1s);
}

TEST(Durations, a_few_make_nobody_certain) {
  const Durations once = of({10s});
  EXPECT_DOUBLE_EQ(once.lasts_longer_than(9s), 1);
  EXPECT_DOUBLE_EQ(once.lasts_longer_than(10s), 1.0 / 3);
  EXPECT_DOUBLE_EQ(once.lasts_longer_than(20s), 1.0 / 6);
  const Durations thrice = of({10s, 10s, 10s});
  EXPECT_DOUBLE_EQ(thrice.lasts_longer_than(10s), 1.0 / 7);
}

TEST(Durations, what_has_lasted_is_more_likely_to_end_later) {
  const Durations durations = of({10s, 20s, 30s, 40s});
  EXPECT_DOUBLE_EQ(durations.ends_within(10s, 0s), 1 / 4.5);
  EXPECT_DOUBLE_EQ(durations.ends_within(10s, 35s), 1 - (0.5 * 40 / 45) / 1.5)
      << "of the one that is left, and half of another";
}

TEST(Durations, what_lasts_longer_than_all_may_last_as_long_again) {
  const Durations durations = of({10s, 20s});
  EXPECT_DOUBLE_EQ(durations.ends_within(1h, 1h), 0.5);
}

TEST(Durations, go_through_a_document_in_their_order) {
  Durations durations;
  for (int i = 1; i <= 40; ++i) durations.add(std::chrono::seconds(i));
  const json::array written = durations.to_json();
  ASSERT_EQ(written.size(), Durations::most);
  EXPECT_EQ(written.front(), 9000);
  EXPECT_EQ(written.back(), 40000);
  Durations read = Durations::from_json(written);
  EXPECT_EQ(read.to_json(), written);
  read.add(1s);
  EXPECT_EQ(read.to_json().front(), 10000) << "the oldest gives way";
}

TEST(Durations, a_damaged_document_is_read_as_far_as_it_makes_sense) {
  const Durations read = Durations::from_json({"x", -3, nullptr, 5000, 1.5, 1e300, json::object{}});
  EXPECT_EQ(read.to_json(), json::array{5000});
}

}  // namespace
}  // namespace muster::verdict
