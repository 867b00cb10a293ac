// How a life registers, and keeps what it was granted.
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
  walk.pass(29min + 59s);
  (void)walk.take();
  walk.fail(Kind::unknown);
  EXPECT_EQ(walk.wait(), 500ms);
  EXPECT_THAT(walk.take(), ElementsAre("register"));
  walk.fail(Kind::unknown);
  EXPECT_THAT(walk.take(), ElementsAre("exit 23"));
}

TEST(LifeRegistering, asks_no_sooner_than_the_host_wants_even_past_its_timeout_but_within_an_hour) {
  Walk walk;
  walk.pass(29min);
  (void)walk.take();
  walk.fail(Kind::try_again, 10min);
  EXPECT_EQ(walk.wait(), 10min);
  EXPECT_THAT(walk.take(), ElementsAre("register"));
  walk.fail(Kind::try_again, 10min);
  EXPECT_THAT(walk.take(), ElementsAre("exit 23"));
  Walk other;
  other.fail(Kind::try_again, 24h * 365);
  EXPECT_EQ(other.wait(), 1h);
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
  walk.life.report_answered(walk.now);
  EXPECT_THAT(walk.take(), ElementsAre("remove"));
  walk.life.removed(walk.now, {Kind::done});
  EXPECT_THAT(walk.take(), ElementsAre("exit 21"));
}

// -------------------------------------------------------------------------------------------------
// Renewal

TEST(LifeRenewing, long_lives_are_renewed_half_an_hour_before_their_end_or_a_quarter_earlier) {
  EXPECT_EQ(renewal_delay(96h, Timings{}, 0), 96h - 30min);
  EXPECT_EQ(renewal_delay(96h, Timings{}, 1), 96h - 45min);
}

TEST(LifeRenewing, short_lives_are_renewed_when_a_third_or_a_half_is_left) {
  EXPECT_EQ(renewal_delay(30s, Timings{}, 0), 20s);
  EXPECT_EQ(renewal_delay(30s, Timings{}, 1), 15s);
  EXPECT_EQ(renewal_delay(0ms, Timings{}, 1), 0ms);
}

TEST(LifeRenewing, comes_as_often_as_it_is_wanted_however_long_the_life_is) {
  const Timings timings{.renew_every = 40s};
  EXPECT_EQ(renewal_delay(5min, timings, 0), 40s);
  EXPECT_EQ(renewal_delay(5min, timings, 1), 20s);
  EXPECT_EQ(renewal_delay(30s, timings, 0), 20s) << "a short life does not wait for that";
}

TEST(LifeRenewing, is_never_later_than_thirty_seconds_or_a_tenth_before_the_end) {
  for (const Milliseconds lasts :
       {Milliseconds(1s), Milliseconds(1min), Milliseconds(1h), Milliseconds(24h * 30)})
    for (const double random : {0.0, 0.3, 0.999})
      EXPECT_GE(lasts - renewal_delay(lasts, Timings{}, random),
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

// A host that lost its database learns of the worker from the provider, and knows it by its proof.
TEST(LifeRenewing, a_host_that_forgot_the_secrets_is_asked_to_register_the_worker_anew) {
  Walk walk;
  walk.run(3h);
  (void)walk.wait();
  (void)walk.take();
  walk.fail(Kind::refused);
  EXPECT_THAT(walk.take(), ElementsAre("register"));
  walk.fail(Kind::unknown);
  (void)walk.wait();
  EXPECT_THAT(walk.take(), ElementsAre("register"));
  walk.life.granted(walk.now, 3h);
  walk.life.written(walk.now, std::nullopt);
  EXPECT_THAT(walk.take(), ElementsAre("write", "refresh"));
  (void)walk.wait();
  EXPECT_THAT(walk.take(), ElementsAre("renew"));
}

TEST(LifeRenewing,
     a_refused_secret_is_followed_by_the_one_before_it_then_by_the_proof_then_by_the_end) {
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
  EXPECT_THAT(walk.take(), ElementsAre("register"));
  for (int refusal = 0; refusal < 5; ++refusal) {
    walk.fail(Kind::refused);
    (void)walk.wait();
    EXPECT_THAT(walk.take(), ElementsAre("register"));
  }
  walk.fail(Kind::refused);
  EXPECT_THAT(walk.take(), ElementsAre("terminate"));
  walk.end_worker();
  EXPECT_THAT(walk.take(), ElementsAre("remove"));
  walk.life.removed(walk.now, {Kind::refused, "no"});
  EXPECT_THAT(walk.take(), ElementsAre("exit 21"));
}

TEST(LifeRenewing, a_worker_that_the_host_no_longer_wants_does_not_register_anew_for_long) {
  Walk walk;
  walk.run(3h);
  (void)walk.wait();
  (void)walk.take();
  walk.fail(Kind::refused);
  EXPECT_THAT(walk.take(), ElementsAre("register"));
  walk.fail(Kind::gone);
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

TEST(LifeRenewing, credentials_that_are_over_when_they_come_are_renewed_but_not_in_a_circle) {
  Walk walk;
  walk.run(0ms);
  EXPECT_EQ(walk.wait(), 1s);
  EXPECT_THAT(walk.take(), ElementsAre("renew"));
  walk.life.granted(walk.now, 3h);
  EXPECT_EQ(*walk.life.lease_end(), walk.now + 3h);
}

TEST(LifeRenewing, a_machine_that_was_frozen_asks_at_once_and_stops_if_it_hears_nothing) {
  Walk walk;
  walk.run(3h);
  walk.life.credentials_last(walk.now, -2h);
  EXPECT_THAT(walk.take(), ElementsAre("renew"));
  walk.fail(Kind::try_again);
  walk.life.credentials_last(walk.now, -2h);  // nothing new
  EXPECT_THAT(walk.take(), IsEmpty());
  EXPECT_EQ(walk.wait(), 1s);
  EXPECT_THAT(walk.take(), ElementsAre("renew"));
  EXPECT_EQ(walk.wait(), 29s);  // all that one request may take
  EXPECT_THAT(walk.take(), ElementsAre("terminate"));
  EXPECT_EQ(walk.life.phase(), Phase::stopping);
}

TEST(LifeRenewing, a_clock_that_was_set_costs_a_renewal_and_nothing_else) {
  Walk walk;
  walk.run(3h);
  walk.life.credentials_last(walk.now, 1h);
  EXPECT_EQ(*walk.life.lease_end(), walk.now + 1h);
  EXPECT_THAT(walk.take(), ElementsAre("renew"));
  walk.life.granted(walk.now, 3h);
  walk.life.written(walk.now, std::nullopt);
  EXPECT_THAT(walk.take(), ElementsAre("write", "refresh"));
  EXPECT_EQ(*walk.life.lease_end(), walk.now + 3h);
}

TEST(LifeRenewing, clocks_that_differ_by_seconds_or_to_the_other_side_change_nothing) {
  Walk walk;
  walk.life.credentials_last(walk.now, 0ms);  // there are none yet
  walk.run(3h);
  walk.life.credentials_last(walk.now, 3h - 10s);
  walk.life.credentials_last(walk.now, 30h);
  EXPECT_THAT(walk.take(), IsEmpty());
  EXPECT_EQ(*walk.life.lease_end(), walk.now + 3h);
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
  walk.life.report_answered(walk.now);
  walk.end_worker();
  EXPECT_THAT(walk.take(), ElementsAre("remove"));
  walk.life.removed(walk.now, {Kind::done});
  EXPECT_THAT(walk.take(), ElementsAre("exit 21"));
}

}  // namespace
}  // namespace muster::agent
