#include "host/plugin_loader/supervision.hpp"

#include <gtest/gtest.h>

namespace muster::plugin_loader {
namespace {

using namespace std::chrono_literals;
using Kind = Reaction::Kind;

struct Supervised : ::testing::Test {
  Reaction after(Incident incident, Isolation isolation = Isolation::process) {
    return supervision.after_call(incident, isolation, now);
  }
  SteadyTime now{1h};
  Supervision supervision{SupervisionPolicy{}};
};

TEST_F(Supervised, losses_are_restarted_with_a_backoff_that_doubles) {
  for (const auto backoff : {100ms, 200ms, 400ms, 800ms}) {
    const Reaction reaction = after(Incident::ended);
    EXPECT_EQ(reaction.kind, Kind::restart);
    EXPECT_EQ(reaction.when, now + backoff);
  }
}

TEST_F(Supervised, the_fifth_loss_within_ten_minutes_quarantines) {
  for (int i = 0; i < 4; ++i) after(Incident::ended);
  const Reaction reaction = after(Incident::stuck);
  EXPECT_EQ(reaction.kind, Kind::quarantine);
  EXPECT_EQ(reaction.reason, "hung or ended unexpectedly 5 times within 10 minutes");
}

TEST_F(Supervised,
       losses_that_are_far_apart_never_quarantine_and_begin_with_a_short_backoff_again) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(after(Incident::ended).when, now + 100ms);
    now += 10min;
  }
}

TEST_F(Supervised, calls_that_succeed_between_two_crashes_do_not_hide_a_crash_loop) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(after(Incident::ended).kind, Kind::restart);
    EXPECT_EQ(after(Incident::none).kind, Kind::go_on);
  }
  EXPECT_EQ(after(Incident::ended).kind, Kind::quarantine);
}

TEST_F(Supervised, the_fifth_bug_in_a_row_quarantines) {
  for (int i = 0; i < 4; ++i) EXPECT_EQ(after(Incident::bug).kind, Kind::go_on);
  EXPECT_EQ(after(Incident::bug).kind, Kind::quarantine);
}

TEST_F(Supervised, good_calls_forgive_bugs) {
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 4; ++i) EXPECT_EQ(after(Incident::bug).kind, Kind::go_on);
    for (int i = 0; i < 2; ++i) after(Incident::none);
  }
}

TEST_F(Supervised, answers_that_make_no_sense_count_although_their_bytes_arrived_well) {
  for (int i = 0; i < 4; ++i) {
    after(Incident::none);
    EXPECT_EQ(supervision.after_wrong_answer().kind, Kind::go_on);
  }
  after(Incident::none);
  EXPECT_EQ(supervision.after_wrong_answer().kind, Kind::quarantine);
}

TEST_F(Supervised, a_violation_quarantines_at_once) {
  EXPECT_EQ(after(Incident::violation).kind, Kind::quarantine);
}

TEST_F(Supervised, the_third_hang_in_process_moves_into_a_cell) {
  EXPECT_EQ(after(Incident::stuck, Isolation::in_process).kind, Kind::restart);
  EXPECT_EQ(after(Incident::stuck, Isolation::in_process).kind, Kind::restart);
  EXPECT_EQ(after(Incident::stuck, Isolation::in_process).kind, Kind::restart_in_cell);
}

TEST_F(Supervised, a_restart_that_fails_is_a_loss_like_any_other) {
  EXPECT_EQ(supervision.after_failed_restart("no memory", now).when, now + 100ms);
  for (int i = 0; i < 3; ++i) supervision.after_failed_restart("no memory", now);
  EXPECT_EQ(supervision.after_failed_restart("no memory", now).reason,
            "could not be started again (no memory) 5 times within 10 minutes");
}

}  // namespace
}  // namespace muster::plugin_loader
