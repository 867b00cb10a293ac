// What a life does with its worker, and how it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/agent/walk.hpp"

namespace muster::agent {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = CallOutcome::Kind;

// -------------------------------------------------------------------------------------------------
// The implementation

TEST(LifeOfAWorker, one_that_fails_is_reported_and_then_removed) {
  Walk walk;
  walk.run();
  walk.end_worker("status 3");
  EXPECT_THAT(walk.take(), ElementsAre("report the worker failed"));
  walk.life.report_answered(walk.now);
  EXPECT_THAT(walk.take(), ElementsAre("remove"));
  walk.life.removed(walk.now, {Kind::done});
  EXPECT_THAT(walk.take(), ElementsAre("exit 10"));
}

TEST(LifeOfAWorker, one_that_ends_well_is_removed) {
  Walk walk;
  walk.run();
  walk.end_worker();
  EXPECT_THAT(walk.take(), ElementsAre("remove"));
  walk.life.removed(walk.now, {Kind::unknown});
  EXPECT_THAT(walk.take(), ElementsAre("exit 0"));
}

TEST(LifeOfAWorker, one_that_has_finished_is_stopped) {
  Walk walk;
  walk.run();
  walk.life.reported_finished(walk.now);
  EXPECT_THAT(walk.take(), ElementsAre("terminate"));
  walk.end_worker("signal 15");
  EXPECT_THAT(walk.take(), ElementsAre("remove"));
}

TEST(LifeOfAWorker, an_error_without_an_answer_delays_the_end_for_half_of_the_time_only) {
  Walk walk;
  walk.run();
  walk.end_worker("status 3");
  (void)walk.take();
  EXPECT_EQ(walk.wait(), 5s);
  EXPECT_THAT(walk.take(), ElementsAre("remove"));
  walk.life.report_answered(walk.now);
  EXPECT_THAT(walk.take(), IsEmpty());
  EXPECT_EQ(walk.wait(), 10s);
  EXPECT_THAT(walk.take(), ElementsAre("exit 10"));
}

TEST(LifeOfAWorker, a_host_that_cannot_remove_it_is_asked_again_and_then_left_alone) {
  Walk walk;
  walk.run();
  walk.end_worker();
  int asked = 0;
  while (walk.life.phase() == Phase::removing) {
    for (const std::string& name : walk.take())
      if (name == "remove") ++asked, walk.life.removed(walk.now, {Kind::try_again, "why"});
    if (walk.life.phase() == Phase::removing) (void)walk.wait();
  }
  EXPECT_THAT(walk.take(), ElementsAre("exit 0"));
  EXPECT_EQ(asked, 5);  // after 0.5, 1, 2 and 4 seconds
}

TEST(LifeOfAWorker, who_wants_no_removal_gets_none) {
  Walk walk({.remove_on_exit = false});
  walk.run();
  walk.end_worker();
  EXPECT_THAT(walk.take(), ElementsAre("exit 0"));
}

// -------------------------------------------------------------------------------------------------
// Busy and idle

TEST(LifeOfTasks, the_host_is_asked_whether_to_end_only_when_nothing_runs) {
  Walk walk;
  walk.run();
  walk.life.reported_busy(walk.now, 2);
  EXPECT_THAT(walk.take(), ElementsAre("activity 2"));
  walk.life.activity_answered(walk.now, {Kind::done});
  walk.life.reported_busy(walk.now, 0);
  EXPECT_THAT(walk.take(), ElementsAre("activity 0"));
  walk.life.activity_answered(walk.now, {Kind::done});
  EXPECT_EQ(walk.wait(), 0s) << "once the host knows";
  EXPECT_THAT(walk.take(), ElementsAre("ask"));
  walk.life.advised(walk.now, false, "needed");
  EXPECT_EQ(walk.wait(), 27s);
  EXPECT_THAT(walk.take(), ElementsAre("ask"));
  walk.life.reported_busy(walk.now, 1);
  walk.life.advised(walk.now, true, "too late");
  EXPECT_EQ(walk.life.phase(), Phase::running);
}

TEST(LifeOfTasks, the_host_may_end_an_idle_worker) {
  Walk walk;
  walk.run();
  walk.life.reported_busy(walk.now, 0);
  (void)walk.take();
  walk.life.advised(walk.now, true, "over capacity");
  EXPECT_THAT(walk.take(), ElementsAre("terminate"));
  walk.end_worker();
  walk.life.removed(walk.now, {Kind::done});
  EXPECT_THAT(walk.take(), ElementsAre("remove", "exit 0"));
}

TEST(LifeOfTasks, nobody_asks_while_the_worker_never_said_that_it_is_idle) {
  Walk walk;
  walk.run();
  EXPECT_EQ(walk.wait(), 40min);
  EXPECT_THAT(walk.take(), ElementsAre("renew"));
}

TEST(LifeOfTasks, a_busy_worker_says_so_again_and_again) {
  Walk walk;
  walk.run(24h);
  walk.life.reported_busy(walk.now, 1);
  walk.life.activity_answered(walk.now, {Kind::done});
  (void)walk.take();
  EXPECT_EQ(walk.wait(), 4min + 30s);
  EXPECT_THAT(walk.take(), ElementsAre("activity 1"));
}

TEST(LifeOfTasks, changes_while_the_host_is_told_are_told_after_it) {
  Walk walk;
  walk.run(24h);
  walk.life.reported_busy(walk.now, 1);
  walk.life.reported_busy(walk.now, 2);
  walk.life.reported_busy(walk.now, 3);
  EXPECT_THAT(walk.take(), ElementsAre("activity 1"));
  walk.life.activity_answered(walk.now, {Kind::done});
  EXPECT_THAT(walk.take(), ElementsAre("activity 3"));
}

TEST(LifeOfTasks, an_older_host_that_knows_no_activity_is_left_in_peace) {
  Walk walk;
  walk.run(24h);
  walk.life.reported_busy(walk.now, 1);
  walk.life.activity_answered(walk.now, {Kind::unknown});
  (void)walk.take();
  walk.life.reported_busy(walk.now, 2);
  EXPECT_THAT(walk.take(), IsEmpty());
}

TEST(LifeOfTasks, a_host_that_knows_the_worker_no_more_ends_it) {
  for (const bool by_activity : {true, false}) {
    Walk walk;
    walk.run();
    walk.life.reported_busy(walk.now, 0);
    (void)walk.take();
    if (by_activity)
      walk.life.activity_answered(walk.now, {Kind::gone, "why"});
    else
      walk.life.not_advised(walk.now, {Kind::gone, "why"});
    EXPECT_THAT(walk.take(), ElementsAre("terminate"));
    walk.end_worker();
    walk.life.removed(walk.now, {Kind::done});
    EXPECT_THAT(walk.take(), ElementsAre("remove", "exit 20"));
  }
}

TEST(LifeOfTasks, advice_that_cannot_be_had_is_asked_for_later) {
  Walk walk;
  walk.run();
  walk.life.reported_busy(walk.now, 0);
  walk.life.activity_answered(walk.now, {Kind::done});
  (void)walk.take();
  walk.life.not_advised(walk.now, {Kind::try_again, "why", 2min});
  EXPECT_EQ(walk.wait(), 2min);
  EXPECT_THAT(walk.take(), ElementsAre("ask"));
}

// -------------------------------------------------------------------------------------------------
// Interruptions and stops

TEST(LifeStopping, a_warning_of_the_cloud_is_only_passed_on) {
  Walk walk;
  walk.run();
  walk.life.interrupted(walk.now, 2min, "rebalance", true);
  EXPECT_THAT(walk.take(), ElementsAre("interruption in 120000: rebalance"));
  EXPECT_EQ(walk.life.phase(), Phase::running);
}

TEST(LifeStopping, an_interrupted_worker_has_the_time_that_the_cloud_leaves) {
  Walk walk;
  walk.run();
  walk.life.interrupted(walk.now, 20s, "preempted", false);
  EXPECT_THAT(walk.take(), ElementsAre("interruption in 20000: preempted", "terminate"));
  EXPECT_EQ(walk.wait(), 18s);
  EXPECT_THAT(walk.take(), ElementsAre("kill"));
  walk.life.report_answered(walk.now);
  walk.end_worker("signal 9");
  walk.life.removed(walk.now, {Kind::done});
  EXPECT_THAT(walk.take(), ElementsAre("remove", "exit 22"));
}

TEST(LifeStopping, an_interruption_hastens_a_stop_that_had_time) {
  Walk walk;
  walk.run(24h);
  (void)walk.wait();
  walk.fail(Kind::gone);
  (void)walk.take();
  walk.life.interrupted(walk.now, 12s, "preempted", false);
  EXPECT_EQ(walk.wait(), 10s);
  EXPECT_THAT(walk.take(), ElementsAre("interruption in 12000: preempted", "kill"));
}

TEST(LifeStopping, a_stop_is_graceful_the_first_time_and_at_once_the_second) {
  Walk walk;
  walk.run();
  walk.life.stop_requested(walk.now);
  EXPECT_THAT(walk.take(), ElementsAre("terminate"));
  walk.life.stop_requested(walk.now);
  EXPECT_THAT(walk.take(), ElementsAre("kill"));
  walk.end_worker("signal 9");
  EXPECT_THAT(walk.take(), ElementsAre("remove"));
  walk.life.stop_requested(walk.now);
  EXPECT_THAT(walk.take(), ElementsAre("exit 0"));
}

TEST(LifeStopping, a_worker_that_does_not_end_in_time_is_killed) {
  Walk walk;
  walk.run();
  walk.life.stop_requested(walk.now);
  EXPECT_EQ(walk.wait(), 30s);
  EXPECT_THAT(walk.take(), ElementsAre("terminate", "kill"));
}

TEST(LifeStopping, whoever_stops_an_outdated_worker_does_not_wait_for_its_lease) {
  Walk walk;
  walk.run(24h);
  (void)walk.wait();
  walk.fail(Kind::gone);
  (void)walk.take();
  walk.life.stop_requested(walk.now);
  EXPECT_EQ(walk.wait(), 30s);
  EXPECT_THAT(walk.take(), ElementsAre("kill"));
  walk.end_worker("signal 9");
  walk.life.removed(walk.now, {Kind::done});
  EXPECT_THAT(walk.take(), ElementsAre("remove", "exit 20"));
}

// A worker that the host has told that it is outdated, with new credentials for its work.
struct Retiring : Walk {
  explicit Retiring(Milliseconds lasts = 1h) {
    run(lasts);
    (void)wait();
    (void)take();
    renew(lasts);
  }
  void renew(Milliseconds lasts) {
    life.granted(now, lasts, "its image is old");
    life.written(now, std::nullopt);
  }
};

TEST(LifeRetiring, an_outdated_worker_gets_its_new_credentials_and_is_told_to_finish) {
  Retiring walk;
  EXPECT_THAT(walk.take(), ElementsAre("write", "refresh", "terminate"));
  walk.end_worker();
  walk.life.removed(walk.now, {Kind::done});
  EXPECT_THAT(walk.take(), ElementsAre("remove", "exit 20"));
}

TEST(LifeRetiring, it_renews_as_long_as_its_work_takes_and_is_told_to_end_only_once) {
  Retiring walk;
  (void)walk.take();
  for (int renewals = 0; renewals < 50; ++renewals) {
    (void)walk.wait();
    ASSERT_THAT(walk.take(), ElementsAre("renew"));
    walk.renew(1h);
    ASSERT_THAT(walk.take(), ElementsAre("write", "refresh"));
  }
}

TEST(LifeRetiring, a_renewal_that_fails_is_tried_again_and_the_end_of_the_lease_is_the_end) {
  Retiring walk(10min);
  (void)walk.take();
  const SteadyTime end = walk.now + 10min;
  int asked = 0;
  while (walk.now < end) {
    (void)walk.wait();
    for (const std::string& name : walk.take())
      if (name == "renew") ++asked, walk.fail(Kind::try_again);
    if (walk.life.next() == std::nullopt) break;
  }
  EXPECT_GT(asked, 1);
  EXPECT_EQ(walk.now, end);
  walk.end_worker("signal 9");
  EXPECT_EQ(walk.life.phase(), Phase::removing);
}

TEST(LifeRetiring, when_the_host_renews_no_more_it_has_until_the_end_of_its_credentials) {
  Retiring walk;
  (void)walk.take();
  (void)walk.wait();
  const auto left = *walk.life.lease_end() - walk.now;
  walk.fail(Kind::gone);
  EXPECT_EQ(walk.wait(), left);
  EXPECT_THAT(walk.take(), ElementsAre("renew", "kill"));
}

TEST(LifeRetiring, a_stop_hastens_it_and_a_late_grant_does_not_prolong_it) {
  Retiring walk;
  (void)walk.take();
  (void)walk.wait();
  walk.life.stop_requested(walk.now);
  walk.renew(1h);
  EXPECT_EQ(walk.wait(), 30s);
  EXPECT_THAT(walk.take(), ElementsAre("renew", "kill"));
}

TEST(LifeRetiring, a_configuration_that_cannot_be_written_ends_it_soon) {
  Retiring walk;
  (void)walk.take();
  (void)walk.wait();
  (void)walk.take();
  walk.life.granted(walk.now, 1h, "its image is old");
  walk.life.written(walk.now, "disk full");
  EXPECT_EQ(walk.wait(), 30s);
}

TEST(LifeStopping,
     an_outdated_worker_is_not_killed_before_its_grace_although_its_lease_ends_sooner) {
  Walk walk;
  walk.run(9s);
  (void)walk.wait();
  walk.fail(Kind::gone);
  EXPECT_EQ(walk.wait(), 30s);
}

}  // namespace
}  // namespace muster::agent
