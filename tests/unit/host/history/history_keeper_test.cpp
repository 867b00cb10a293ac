// The history in the store: what is written, what is kept, and what comes back.
#include "host/history/history_keeper.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "host/store/memory_store.hpp"
#include "host/store/row.hpp"

namespace muster::history {
namespace {

using namespace std::chrono_literals;

constexpr Time begun{1'700'000'000s};

Figures figures_of(std::int32_t capacity) {
  Figures figures;
  figures.running = capacity;
  figures.price_per_hour = 0.25F;
  return figures;
}

class HistoryKeeperTest : public ::testing::Test {
 protected:
  // A host that runs on the store.
  struct Host {
    explicit Host(std::vector<Retention> retention) : keeper(std::move(retention)) {}
    History history;
    HistoryKeeper keeper;
  };
  std::unique_ptr<Host> begin(std::vector<Retention> retention = HistoryKeeper::usual_retention()) {
    auto host = std::make_unique<Host>(std::move(retention));
    const auto loaded = host->keeper.load(store, host->history);
    EXPECT_TRUE(loaded) << loaded.error().message;
    return host;
  }
  // How many rows were written.
  std::size_t keep(Host& host, Time at, const History::Sample& pools, bool last = false) {
    host.history.record(at, pools);
    const store::Batch batch = host.keeper.rows(at, host.history.latest(), last);
    EXPECT_TRUE(store.commit(batch));
    return static_cast<std::size_t>(std::ranges::count_if(
        batch, [](const store::Change& each) { return std::holds_alternative<store::Put>(each); }));
  }
  std::size_t rows() const {
    std::size_t count = 0;
    EXPECT_TRUE(store::read_rows<HistoryRow>(store, [&](const HistoryRow&) { ++count; }));
    return count;
  }

  store::MemoryStore store;
};

TEST_F(HistoryKeeperTest, a_fleet_in_which_nothing_happens_writes_nothing) {
  const auto host = begin();
  EXPECT_EQ(keep(*host, begun, {{"a/b", figures_of(1)}}), 2U) << "one row of each step";
  for (int i = 1; i < 200; ++i)
    EXPECT_EQ(keep(*host, begun + i * 10s, {{"a/b", figures_of(1)}}), 0U) << i;
}

TEST_F(HistoryKeeperTest, all_pools_that_changed_in_a_minute_are_one_row) {
  const auto host = begin();
  History::Sample pools;
  for (int i = 0; i < 1000; ++i) pools.emplace_back("a/p" + std::to_string(i), figures_of(1));
  keep(*host, begun, pools);
  for (auto& [pool, figures] : pools) figures.running = 2;
  EXPECT_EQ(keep(*host, begun + 2s, pools), 0U) << "the minute is not over";
  EXPECT_EQ(keep(*host, begun + 60s, pools), 1U);
}

TEST_F(HistoryKeeperTest, comes_back_after_a_restart_without_pools_that_are_gone) {
  auto host = begin();
  keep(*host, begun, {{"a/b", figures_of(1)}, {"a/gone", figures_of(7)}});
  keep(*host, begun + 60s, {{"a/b", figures_of(2)}, {"a/gone", figures_of(7)}});
  EXPECT_EQ(keep(*host, begun + 70s, {{"a/b", figures_of(3)}, {"a/gone", figures_of(7)}}, true), 2U)
      << "the host stops in the middle of a minute";
  host = begin();
  host->history.record(begun + 300s, {{"a/b", figures_of(4)}});
  const auto points = host->history.series("a/b");
  ASSERT_EQ(points.size(), 4U);
  for (std::size_t i = 0; i < points.size(); ++i)
    EXPECT_EQ(points[i].figures, figures_of(static_cast<std::int32_t>(i + 1)));
  EXPECT_EQ(host->history.series("").front().figures.running, 8) << "the fleet as it was";
  EXPECT_TRUE(host->history.series("a/gone").empty());
}

TEST_F(HistoryKeeperTest, minutes_become_quarters_of_an_hour_and_end) {
  const auto host = begin();
  for (int minute = 0; minute < 10 * 24 * 60; ++minute)
    keep(*host, begun + minute * 60s, {{"a/b", figures_of(minute % 7)}});
  EXPECT_LE(rows(), 25U * 60 + 8 * 24 * 4 + 4);
  const auto again = begin();
  const auto points = again->history.series("a/b");
  const Time oldest{std::chrono::seconds(points.front().second)};
  EXPECT_GE(oldest, begun + 24h);
  EXPECT_LE(oldest, begun + 72h) << "a week is there";
}

TEST_F(HistoryKeeperTest, a_pool_that_never_changes_outlives_the_row_that_had_it_first) {
  const auto host = begin();
  for (int hour = 0; hour < 12 * 24; ++hour)
    keep(*host, begun + hour * 1h, {{"a/still", figures_of(5)}, {"a/b", figures_of(hour % 7)}});
  EXPECT_FALSE(begin()->history.series("a/still").empty());
}

TEST_F(HistoryKeeperTest, rows_are_bounded_in_bytes_whatever_happens) {
  const std::vector<Retention> tight{{.step = 1min, .kept = 24h, .most_bytes = 10'000}};
  const auto host = begin(tight);
  History::Sample pools;
  for (int i = 0; i < 100; ++i) pools.emplace_back("a/p" + std::to_string(i), figures_of(0));
  for (int minute = 0; minute < 100; ++minute) {
    for (auto& [pool, figures] : pools) figures.running = minute;
    keep(*host, begun + minute * 60s, pools);
  }
  EXPECT_LE(rows(), 4U);
  EXPECT_GE(rows(), 1U);
}

TEST_F(HistoryKeeperTest, a_clock_that_was_set_back_and_rows_that_are_not_whole_do_no_harm) {
  const auto host = begin();
  keep(*host, begun, {{"a/b", figures_of(1)}});
  EXPECT_EQ(keep(*host, begun - 1h, {{"a/b", figures_of(2)}}), 0U);
  HistoryRow bad{.step = 60, .at = begun + 60s, .figures = {}};
  bad.figures["a/b"] = json::array{1, 2, 3};
  bad.figures["a/c"] = "no figures";
  bad.figures["a/d"] = json::array{1e300, -5, 3, 0, 0, 0, 0, "x"};
  bad.figures["a/e"] = json::array{1e300, -5, 3, 0, 0, 0, 0, 1};
  ASSERT_TRUE(store.commit({store::put(bad)}));
  const auto again = begin();
  EXPECT_EQ(again->history.series("a/b").size(), 1U);
  EXPECT_TRUE(again->history.series("a/d").empty());
  EXPECT_EQ(again->history.series("a/e").front().figures.pending, INT32_MAX);
}

}  // namespace
}  // namespace muster::history
