#include "cli/simulate/figures.hpp"

#include <gmock/gmock.h>

namespace muster::cli {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

simulation::Report report_of(std::int64_t tasks, double cost) {
  simulation::Report report;
  simulation::PoolReport& pool = report.pools[WorkerPoolId("p/build")];
  pool.tasks = tasks;
  pool.done = tasks - 1;
  for (std::int64_t i = 1; i < tasks; ++i) pool.waits.push_back(i * 1s);
  pool.waiting = {2h};
  pool.cost = cost;
  pool.verdict = "wants 1 more";
  pool.verdict_kind = verdict::Kind::blocked;
  report.pools[WorkerPoolId("p/quiet")].verdict_kind = verdict::Kind::placed;
  report.samples = {{0ms, 1, 2, 3}};
  report.end = 3h;
  return report;
}

TEST(Figures, no_waits_are_no_numbers) {
  EXPECT_FALSE(waits_of({}).has_value());
  const Figures figures = figures_of("c", simulation::Report());
  EXPECT_THAT(figures_text(figures, Style(false)), HasSubstr("total"));
  EXPECT_TRUE(figures_json(figures, {}).at("total").at("waitSeconds").is_null());
}

TEST(Figures, percentiles_are_those_of_the_nearest_rank) {
  std::vector<milliseconds> waits;
  for (int i = 100; i >= 1; --i) waits.push_back(i * 1s);
  const auto of = waits_of(waits);
  EXPECT_EQ(of->p50, 50s);
  EXPECT_EQ(of->p90, 90s);
  EXPECT_EQ(of->p99, 99s);
  EXPECT_EQ(of->most, 100s);
  EXPECT_EQ(waits_of({7s})->p50, 7s);
  EXPECT_EQ(waits_of({1s, 2s})->p50, 1s);
}

TEST(Figures, tasks_that_never_began_count_with_their_wait_so_far) {
  const Figures figures = figures_of("c", report_of(10, 1));
  EXPECT_EQ(figures.pools[0].waiting, 1);
  EXPECT_EQ(figures.pools[0].waits->most, 2h);
  EXPECT_EQ(figures.total.waits->most, 2h);
}

TEST(Figures, the_table_says_why_a_pool_is_not_satisfied) {
  const std::string text = figures_text(figures_of("c", report_of(10, 1.5)), Style(false));
  EXPECT_THAT(text, HasSubstr("p/build: blocked: wants 1 more"));
  EXPECT_THAT(text, Not(HasSubstr("p/quiet:")));
  EXPECT_THAT(text, HasSubstr("1.50"));
}

TEST(Figures, a_comparison_shows_what_differs) {
  const Figures cheap = figures_of("cheap", report_of(10, 1)),
                dear = figures_of("dear", report_of(10, 3));
  const std::string text = comparison_text(cheap, dear, Style(false));
  EXPECT_THAT(text, HasSubstr("+2.00 (+200 %)"));
  EXPECT_DOUBLE_EQ(comparison_json(cheap, dear).at("cost").as_double(), 2);
  EXPECT_THAT(comparison_text(cheap, cheap, Style(false)), Not(HasSubstr("+")));
}

TEST(Figures, a_pool_that_only_one_of_two_has_is_compared_with_nothing) {
  simulation::Report second = report_of(10, 1);
  second.pools.erase(WorkerPoolId("p/quiet"));
  second.pools[WorkerPoolId("p/new")].launches = 4;
  const std::string text =
      comparison_text(figures_of("a", report_of(10, 1)), figures_of("b", second), Style(false));
  EXPECT_THAT(text, HasSubstr("p/quiet"));
  EXPECT_THAT(text, HasSubstr("p/new"));
  EXPECT_THAT(text, HasSubstr("+4"));
}

TEST(Figures, times_are_written_short) {
  EXPECT_EQ(in_words(0ms), "0ms");
  EXPECT_EQ(in_words(850ms), "850ms");
  EXPECT_EQ(in_words(45s), "45s");
  EXPECT_EQ(in_words(200s), "3m 20s");
  EXPECT_EQ(in_words(2h + 5min), "2h 05m");
  EXPECT_EQ(in_words(27h), "1d 03h");
  EXPECT_EQ(in_words(-5s), "-5s");
}

}  // namespace
}  // namespace muster::cli
