#include "host/history/history.hpp"

#include <gtest/gtest.h>

namespace muster::history {
namespace {

using namespace std::chrono_literals;

constexpr Time start{1'700'000'000s};

Figures running(std::int32_t capacity, float price = 0) {
  Figures figures;
  figures.running = capacity;
  figures.price_per_hour = price;
  return figures;
}

TEST(History, of_what_is_not_known_is_empty) {
  History history;
  EXPECT_TRUE(history.series("").empty());
  history.record(start, {});
  EXPECT_TRUE(history.series("a/b").empty());
  EXPECT_TRUE(history.changes_after(0).empty());
}

TEST(History, has_a_point_for_each_change_and_one_for_now) {
  History history;
  history.record(start, {{"a/b", running(1)}});
  for (int i = 1; i < 100; ++i) history.record(start + i * 10s, {{"a/b", running(1)}});
  history.record(start + 1000s, {{"a/b", running(5)}});
  history.record(start + 1010s, {{"a/b", running(5)}});
  const auto points = history.series("a/b");
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].figures.running, 1);
  EXPECT_EQ(points[1].figures.running, 5);
  EXPECT_EQ(points[2].second - points[0].second, 1010U);
}

TEST(History, sums_up_the_fleet) {
  History history;
  history.record(start, {{"a/b", running(1, 0.5)}, {"a/c", running(2, 0.25)}});
  const auto points = history.series("");
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].figures.running, 3);
  EXPECT_FLOAT_EQ(points[0].figures.price_per_hour, 0.75);
}

TEST(History, names_the_pools_that_changed_also_those_that_are_gone) {
  History history;
  history.record(start, {{"a/b", running(1)}, {"a/c", running(1)}});
  const auto first = history.newest_change();
  history.record(start + 2s, {{"a/b", running(1)}, {"a/c", running(1)}});
  EXPECT_EQ(history.newest_change(), first) << "nothing has changed";
  history.record(start + 4s, {{"a/b", running(2)}});
  const auto changes = history.changes_after(first);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].pools, (std::vector<std::string>{"a/b", "a/c"}));
  EXPECT_EQ(changes[0].fleet.running, 2);
  EXPECT_TRUE(history.series("a/c").empty());
}

TEST(History, counts_pools_beyond_those_that_it_names) {
  History history;
  History::Sample many;
  for (std::size_t i = 0; i < History::most_named + 7; ++i)
    many.emplace_back("a/" + std::to_string(i), running(1));
  history.record(start, many);
  const auto changes = history.changes_after(0);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].pools.size(), History::most_named);
  EXPECT_EQ(changes[0].more_pools, 7U);
}

TEST(History, stays_within_its_memory_and_keeps_the_oldest_and_the_newest) {
  History history(sizeof(Point) * 1000, 200);
  for (int i = 0; i < 5000; ++i) {
    History::Sample sample;
    for (int pool = 0; pool < 10; ++pool)
      sample.emplace_back("a/" + std::to_string(pool), running(i + 1));
    history.record(start + i * 10s, sample);
    ASSERT_LE(history.points(), 1000U);
  }
  const auto points = history.series("a/3");
  EXPECT_EQ(points.front().figures.running, 1);
  EXPECT_EQ(points.back().figures.running, 5000);
  for (std::size_t i = 1; i < points.size(); ++i) EXPECT_LT(points[i - 1].second, points[i].second);
  EXPECT_LE(history.series("").size(), 201U);
  EXPECT_LE(history.changes_after(0).size(), 64U);
}

}  // namespace
}  // namespace muster::history
