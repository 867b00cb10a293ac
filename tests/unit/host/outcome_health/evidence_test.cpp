#include "host/outcome_health/evidence.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "host/outcome_health/task_outcome.hpp"

namespace muster::outcome_health {
namespace {

TEST(Evidence, reasons_that_may_not_be_the_workers_fault_do_not_count) {
  for (const char* reason :
       {"worker-shutdown", "claim-expired", "malformed-payload", "canceled", "superseded",
        "deadline-exceeded", "intermittent-task", "", "a reason of tomorrow"})
    EXPECT_EQ(counted(Resolution::exception, reason), Counted::not_at_all) << reason;
}

TEST(Evidence, failed_tasks_and_exceptions_of_the_machine_count_as_failures) {
  EXPECT_EQ(counted(Resolution::completed, "completed"), Counted::as_completed);
  EXPECT_EQ(counted(Resolution::failed, "failed"), Counted::as_failed);
  EXPECT_EQ(counted(Resolution::exception, "internal-error"), Counted::as_failed);
  EXPECT_EQ(counted(Resolution::exception, "resource-unavailable"), Counted::as_failed);
}

TEST(Evidence, the_baseline_is_the_upper_end_of_what_others_show) {
  EXPECT_DOUBLE_EQ(baseline({}, {}), greatest_baseline) << "of nobody nothing is known";
  EXPECT_NEAR(baseline({0, 20}, {}), 4.0 / 24, 1e-9);
  EXPECT_NEAR(baseline({5, 100}, {}), (5 + 2 + 2 * std::sqrt(4.75 + 1)) / 104, 1e-9);
  EXPECT_DOUBLE_EQ(baseline({0, 1e9}, {}), least_baseline);
  EXPECT_DOUBLE_EQ(baseline({1e9, 1e9}, {}), greatest_baseline);
}

TEST(Evidence, what_fails_now_raises_the_baseline_at_once) {
  EXPECT_NEAR(baseline({0, 1000}, {10, 10}), 0.5, 1e-9);
  EXPECT_LT(baseline({0, 1000}, {0, 10}), 0.02);
}

TEST(Evidence, the_score_is_a_martingale_for_a_healthy_subject) {
  const Settings settings;
  for (const double p : {0.01, 0.05, 0.3, 0.9}) {
    const double mean = p * std::exp(score_of(true, p, settings)) +
                        (1 - p) * std::exp(score_of(false, p, settings));
    EXPECT_NEAR(mean, 1, 1e-12) << p;
  }
}

TEST(Evidence, so_many_failures_in_a_row_accuse) {
  const Settings settings;
  EXPECT_EQ(failures_needed(0.01, 12, settings), 3);
  EXPECT_EQ(failures_needed(0.05, 12, settings), 5);
  EXPECT_EQ(failures_needed(0.05, 100, settings), 6);
  EXPECT_EQ(failures_needed(0.1, 100, settings), 9);
  EXPECT_EQ(failures_needed(0.2, 100, settings), 13);
  EXPECT_EQ(failures_needed(0.05, 10000, settings), 8);
}

TEST(Evidence, shares_are_told_in_words) {
  EXPECT_EQ(percent(0), "0 %");
  EXPECT_EQ(percent(0.067), "6.7 %");
  EXPECT_EQ(percent(0.5), "50 %");
}

}  // namespace
}  // namespace muster::outcome_health
