#include "agent/life.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::agent {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = Outcome::Kind;
using Names = std::vector<std::string>;

struct Named {
  std::string operator()(const Register&) const { return "register"; }
  std::string operator()(const Renew& renew) const {
    return renew.with_previous_secret ? "renew with the previous secret" : "renew";
  }
  std::string operator()(const WriteConfiguration&) const { return "write"; }
  std::string operator()(const StartWorker&) const { return "start"; }
  std::string operator()(const RefreshWorker&) const { return "refresh"; }
  std::string operator()(const TerminateWorker&) const { return "terminate"; }
  std::string operator()(const KillWorker&) const { return "kill"; }
  std::string operator()(const ReportError& error) const { return "report " + error.title; }
  std::string operator()(const TellInterruption& told) const {
    return "interruption in " + std::to_string(told.in.count()) + ": " + told.reason;
  }
  std::string operator()(const SendActivity& activity) const {
    return "activity " + std::to_string(activity.busy);
  }
  std::string operator()(const AskAdvice&) const { return "ask"; }
  std::string operator()(const RemoveWorker&) const { return "remove"; }
  std::string operator()(const Say&) const { return ""; }
  std::string operator()(const Exit& exit) const {
    return "exit " + std::to_string(static_cast<int>(exit.code));
  }
};

// A life with a clock and chance of its own.
struct Walk {
  explicit Walk(Life::Options options = {}) : life(options, [this] { return random; }) {
    life.begin(now);
  }

  Names take() {
    Names names;
    for (const Action& action : life.take()) {
      std::string name = std::visit(Named{}, action);
      if (!name.empty()) names.push_back(std::move(name));
    }
    return names;
  }
  // Until the next thing that Life waits for; how long that was.
  Milliseconds wait() {
    const auto next = life.next();
    if (!next) return -1ms;
    const auto passed = std::chrono::duration_cast<Milliseconds>(*next - now);
    now = *next;
    life.tick(now);
    return passed;
  }
  void pass(Milliseconds time) {
    now += time;
    life.tick(now);
  }
  // Up to a running implementation, with credentials that last so long.
  void run(Milliseconds lasts = 1h) {
    life.granted(now, lasts);
    life.written(now, std::nullopt);
    (void)take();
  }
  void fail(Kind kind, std::optional<Milliseconds> after = std::nullopt) {
    life.not_granted(now, {kind, "why", after});
  }
  void end_worker(std::optional<std::string> failure = std::nullopt) {
    life.worker_ended(now, failure);
  }

  SteadyTime now{1000h};
  double random = 0;
  Life life;
};

// -------------------------------------------------------------------------------------------------
// Registration

TEST(LifeRegistering, what_is_gone_ends_at_once_with_its_own_code) {
  Walk walk;
  EXPECT_THAT(walk.take(), ElementsAre("register"));
  walk.fail(Kind::gone);
  EXPECT_THAT(walk.take(), ElementsAre("exit 20"));
  EXPECT_FALSE(walk.life.next());
}

TEST(LifeRegistering, a_refusal_is_believed_the_second_time) {
  Walk walk;
  (void)walk.take();
  walk.fail(Kind::refused);
  EXPECT_THAT(walk.take(), IsEmpty());
  EXPECT_EQ(walk.wait(), 500ms);
  EXPECT_THAT(walk.take(), ElementsAre("register"));
  walk.fail(Kind::refused);
  EXPECT_THAT(walk.take(), ElementsAre("exit 23"));
}

TEST(LifeRegistering, refusals_with_something_else_between_do_not_add_up) {
  Walk walk;
  walk.fail(Kind::refused);
  walk.fail(Kind::try_again);
  walk.fail(Kind::refused);
  EXPECT_EQ(walk.life.phase(), Phase::registering);
}

TEST(LifeRegistering, waits_twice_as_long_each_time_up_to_a_minute_and_by_chance_half_of_it) {
  Walk walk;
  std::vector<Milliseconds> waits;
  for (int i = 0; i < 8; ++i) {
    walk.random = i % 2 == 0 ? 0.0 : 0.999999;
    walk.fail(Kind::try_again);
    waits.push_back(walk.wait());
  }
  EXPECT_THAT(waits, ElementsAre(500ms, 2000ms, 2s, 8000ms, 8s, 32000ms, 30s, 60000ms));
}

TEST(LifeRegistering, obeys_the_host_if_it_wants_more_time) {
  Walk walk;
  walk.fail(Kind::try_again, 90s);
  EXPECT_EQ(walk.wait(), 90s);
  walk.random = 1;
  walk.fail(Kind::try_again, 90s);
  EXPECT_EQ(walk.wait(), 99s);
}

TEST(LifeRegistering, gives_up_after_the_timeout_with_a_last_attempt_at_its_end) {
  Walk walk;
  walk.fail(Kind::unknown);
  (void)walk.wait();
  walk.pass(29min + 50s);
  (void)walk.take();
  walk.fail(Kind::unknown, 1h);
  EXPECT_LT(walk.wait(), 10s);
  EXPECT_THAT(walk.take(), ElementsAre("register"));
  walk.fail(Kind::unknown);
  EXPECT_THAT(walk.take(), ElementsAre("exit 23"));
}

TEST(LifeRegistering, ends_well_if_it_is_stopped) {
  Walk walk;
  (void)walk.take();
  walk.life.stop_requested(walk.now);
  EXPECT_THAT(walk.take(), ElementsAre("exit 0"));
}

TEST(LifeRegistering, ends_if_the_cloud_takes_the_machine) {
  Walk walk;
  (void)walk.take();
  walk.life.interrupted(walk.now, 30s, "spot", true);
  EXPECT_EQ(walk.life.phase(), Phase::registering);
  walk.life.interrupted(walk.now, 30s, "spot", false);
  EXPECT_THAT(walk.take(), ElementsAre("exit 22"));
}

TEST(LifeRegistering, what_it_gets_is_written_before_the_worker_starts) {
  Walk walk;
  (void)walk.take();
  walk.life.granted(walk.now, 1h);
  EXPECT_THAT(walk.take(), ElementsAre("write"));
  walk.life.written(walk.now, std::nullopt);
  EXPECT_THAT(walk.take(), ElementsAre("start"));
}

TEST(LifeRegistering, a_full_disk_is_reported_and_nothing_starts) {
  Walk walk;
  (void)walk.take();
  walk.life.granted(walk.now, 1h);
  walk.life.written(walk.now, "disk full");
  EXPECT_THAT(walk.take(),
              ElementsAre("write", "report could not write the worker's configuration"));
  walk.life.told(walk.now);
  EXPECT_THAT(walk.take(), ElementsAre("remove"));
  walk.life.removed(walk.now, {Kind::done});
  EXPECT_THAT(walk.take(), ElementsAre("exit 21"));
}

// -------------------------------------------------------------------------------------------------
// Renewal

TEST(LifeRenewing, long_lives_are_renewed_half_an_hour_before_their_end_or_a_quarter_earlier) {
  EXPECT_EQ(renewal_delay(96h, 30min, 0), 96h - 30min);
  EXPECT_EQ(renewal_delay(96h, 30min, 1), 96h - 45min);
}

TEST(LifeRenewing, short_lives_are_renewed_when_a_third_or_a_half_is_left) {
  EXPECT_EQ(renewal_delay(30s, 30min, 0), 20s);
  EXPECT_EQ(renewal_delay(30s, 30min, 1), 15s);
  EXPECT_EQ(renewal_delay(0ms, 30min, 1), 0ms);
}

TEST(LifeRenewing, is_never_later_than_thirty_seconds_or_a_tenth_before_the_end) {
  for (const Milliseconds lasts :
       {Milliseconds(1s), Milliseconds(1min), Milliseconds(1h), Milliseconds(24h * 30)})
    for (const double random : {0.0, 0.3, 0.999})
      EXPECT_GE(lasts - renewal_delay(lasts, 30min, random),
                std::min<Milliseconds>(30s, lasts / 10));
}

TEST(LifeRenewing, what_is_new_is_written_and_the_worker_is_told) {
  Walk walk;
  walk.run(3h);
  EXPECT_EQ(walk.wait(), 2h + 30min);
  EXPECT_THAT(walk.take(), ElementsAre("renew"));
  walk.life.granted(walk.now, 3h);
  EXPECT_THAT(walk.take(), ElementsAre("write"));
  walk.life.written(walk.now, std::nullopt);
  EXPECT_THAT(walk.take(), ElementsAre("refresh"));
  EXPECT_EQ(walk.wait(), 2h + 30min);
}

TEST(LifeRenewing, can_be_asked_for) {
  Walk walk;
  walk.run();
  walk.life.renewal_requested(walk.now);
  EXPECT_THAT(walk.take(), ElementsAre("renew"));
  walk.life.renewal_requested(walk.now);  // it is under way
  EXPECT_THAT(walk.take(), IsEmpty());
}

TEST(LifeRenewing, a_lost_answer_is_tried_again_with_the_same_secret) {
  Walk walk;
  walk.run(3h);
  (void)walk.wait();
  (void)walk.take();
  walk.fail(Kind::try_again);
  EXPECT_EQ(walk.wait(), 1s);
  EXPECT_THAT(walk.take(), ElementsAre("renew"));
}

TEST(LifeRenewing, a_refused_secret_is_followed_by_the_one_before_it_and_then_by_the_end) {
  Walk walk;
  walk.run(3h);
  (void)walk.wait();
  walk.life.granted(walk.now, 3h);
  walk.life.written(walk.now, std::nullopt);
  (void)walk.wait();
  (void)walk.take();
  walk.fail(Kind::refused);
  EXPECT_THAT(walk.take(), ElementsAre("renew with the previous secret"));
  walk.fail(Kind::try_again);
  (void)walk.wait();
  EXPECT_THAT(walk.take(), ElementsAre("renew with the previous secret"));
  walk.fail(Kind::refused);
  EXPECT_THAT(walk.take(), ElementsAre("terminate"));
  walk.end_worker();
  EXPECT_THAT(walk.take(), ElementsAre("remove"));
  walk.life.removed(walk.now, {Kind::refused, "no"});
  EXPECT_THAT(walk.take(), ElementsAre("exit 21"));
}

TEST(LifeRenewing, the_first_secret_has_none_before_it) {
  Walk walk;
  walk.run(3h);
  (void)walk.wait();
  (void)walk.take();
  walk.fail(Kind::refused);
  EXPECT_THAT(walk.take(), ElementsAre("terminate"));
}

TEST(LifeRenewing, an_outdated_worker_may_finish_its_task_while_its_credentials_are_good) {
  Walk walk;
  walk.run(3h);
  (void)walk.wait();
  (void)walk.take();
  walk.fail(Kind::gone);
  EXPECT_THAT(walk.take(), ElementsAre("terminate"));
  EXPECT_EQ(walk.wait(), 30min);
  EXPECT_THAT(walk.take(), ElementsAre("kill"));
  walk.end_worker("signal 9");
  EXPECT_THAT(walk.take(), ElementsAre("remove"));
  walk.life.removed(walk.now, {Kind::done});
  EXPECT_THAT(walk.take(), ElementsAre("exit 20"));
}

TEST(LifeRenewing, an_outdated_machine_that_nobody_launched_is_not_removed) {
  Walk walk({.remove_when_outdated = false});
  walk.run(3h);
  (void)walk.wait();
  walk.fail(Kind::gone);
  walk.end_worker();
  EXPECT_THAT(walk.take(), ElementsAre("renew", "terminate", "exit 20"));
}

TEST(LifeRenewing, however_long_the_host_wants_it_to_wait_it_tries_before_the_lease_is_over) {
  Walk walk;
  walk.run(90s);
  EXPECT_EQ(walk.wait(), 60s);
  walk.fail(Kind::try_again, 1h);
  EXPECT_EQ(walk.wait(), 15s);
  (void)walk.take();
  walk.fail(Kind::try_again, 1h);
  EXPECT_EQ(walk.wait(), 7500ms);
}

TEST(LifeRenewing, a_host_out_of_reach_past_the_lease_ends_the_worker) {
  Walk walk;
  walk.run(90s);
  Milliseconds passed{};
  while (walk.life.phase() == Phase::running) {
    passed += walk.wait();
    for (const std::string& name : walk.take())
      if (name == "renew") walk.fail(Kind::try_again);
  }
  EXPECT_EQ(passed, 90s);
  EXPECT_EQ(walk.life.phase(), Phase::stopping);
  EXPECT_EQ(walk.wait(), 30s);
  EXPECT_THAT(walk.take(), ElementsAre("kill"));
  walk.end_worker("signal 9");
  EXPECT_THAT(walk.take(), ElementsAre("exit 24"));  // nobody to be told
}

TEST(LifeRenewing, a_request_without_an_answer_does_not_keep_the_lease) {
  Walk walk;
  walk.run(90s);
  EXPECT_EQ(walk.wait(), 60s);
  EXPECT_EQ(walk.wait(), 30s);
  EXPECT_THAT(walk.take(), ElementsAre("renew", "terminate"));
  walk.life.granted(walk.now, 1h);  // too late
  EXPECT_THAT(walk.take(), IsEmpty());
}

TEST(LifeRenewing, a_configuration_that_cannot_be_written_stops_the_worker) {
  Walk walk;
  walk.run();
  (void)walk.wait();
  walk.life.granted(walk.now, 1h);
  (void)walk.take();
  walk.life.written(walk.now, "no space left");
  EXPECT_THAT(walk.take(),
              ElementsAre("report could not write the worker's configuration", "terminate"));
  walk.life.told(walk.now);
  walk.end_worker();
  EXPECT_THAT(walk.take(), ElementsAre("remove"));
  walk.life.removed(walk.now, {Kind::done});
  EXPECT_THAT(walk.take(), ElementsAre("exit 21"));
}

// -------------------------------------------------------------------------------------------------
// The implementation

TEST(LifeOfAWorker, one_that_fails_is_reported_and_then_removed) {
  Walk walk;
  walk.run();
  walk.end_worker("status 3");
  EXPECT_THAT(walk.take(), ElementsAre("report the worker failed"));
  walk.life.told(walk.now);
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
  walk.life.told(walk.now);
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
  walk.life.told(walk.now);
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
