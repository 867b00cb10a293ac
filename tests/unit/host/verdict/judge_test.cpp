// Exactly one verdict for every situation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/verdict/verdict.hpp"

namespace muster::verdict {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

const Time now{std::chrono::hours(24 * 365 * 50)};

Durations measured(std::chrono::milliseconds time) {
  Durations durations;
  for (int i = 0; i < 32; ++i) durations.add(time);
  return durations;
}

// What is blocked names its obstacle, and nothing else does.
Verdict judged(const Situation& situation) {
  Verdict verdict = judge(situation, now);
  EXPECT_FALSE(verdict.text.empty());
  EXPECT_EQ(verdict.obstacle.has_value(), verdict.kind == Kind::blocked);
  if (verdict.obstacle) {
    EXPECT_FALSE(verdict.obstacle->cause.empty());
    EXPECT_FALSE(verdict.obstacle->scope.empty());
    EXPECT_FALSE(verdict.obstacle->who.empty());
  }
  return verdict;
}

// -------------------------------------------------------------------------------------------------
// Requests

TEST(RequestVerdict, placed_says_where) {
  const Verdict verdict = judged(RequestSituation{.held = true, .worker = "worker 7"});
  EXPECT_EQ(verdict.kind, Kind::placed);
  EXPECT_THAT(verdict.text, HasSubstr("worker 7"));
}

TEST(RequestVerdict, waiting_says_the_position_and_when) {
  const Durations lease = measured(1min);
  const Verdict verdict =
      judged(RequestSituation{.team = "a",
                              .position = 3,
                              .lines = 4,
                              .candidates = 2,
                              .large_enough = true,
                              .room_sources = {{.takes = &lease, .again = true}},
                              .room = 3});
  EXPECT_EQ(verdict.kind, Kind::waiting);
  EXPECT_EQ(verdict.position, 3);
  EXPECT_EQ(verdict.text,
            "number 3 in the queue of team a; 3 other queues compete for these workers");
  ASSERT_TRUE(verdict.eta);
  EXPECT_GT(verdict.eta->p50, now + 2min);
  EXPECT_LT(verdict.eta->p50, now + 4min);
  EXPECT_GE(verdict.eta->p90, verdict.eta->p50);
}

TEST(RequestVerdict, waiting_without_a_measure_says_no_time) {
  EXPECT_FALSE(judged(RequestSituation{.candidates = 1, .large_enough = true}).eta);
}

TEST(RequestVerdict, launching_is_for_those_whom_it_suffices_for) {
  const Durations start = measured(30s);
  const Outlook outlook{.pool = WorkerPoolId("p"), .launching = 2};
  RequestSituation situation{.candidates = 1,
                             .large_enough = true,
                             .outlooks = {outlook},
                             .room_sources = {{.takes = &start, .room = 2}}};
  EXPECT_EQ(judged(situation).kind, Kind::launching);
  EXPECT_GE(judged(situation).eta->p50, now + 29s);
  EXPECT_LE(judged(situation).eta->p50, now + 31s);
  situation.position = 3;
  EXPECT_EQ(judged(situation).kind, Kind::waiting) << "two others come before";
  situation.large_enough = false;
  EXPECT_EQ(judged(situation).kind, Kind::waiting) << "nothing else could serve it";
  EXPECT_THAT(judged(situation).text,
              HasSubstr("pool p launches workers for 2 requests ahead of it"));
}

TEST(RequestVerdict, blocked_by_the_limit_of_the_team_wherever_it_stands_in_its_line) {
  for (const std::int64_t position : {1, 5}) {
    const Verdict verdict = judged(RequestSituation{.team = "a",
                                                    .position = position,
                                                    .candidates = 1,
                                                    .large_enough = true,
                                                    .head_needs = 2,
                                                    .team_held = 3,
                                                    .team_limit = 4});
    ASSERT_EQ(verdict.kind, Kind::blocked);
    EXPECT_EQ(verdict.obstacle->cause, cause::team_limit);
    EXPECT_EQ(verdict.obstacle->scope, "team a");
    EXPECT_THAT(verdict.text, HasSubstr("3 of the 4"));
    EXPECT_THAT(verdict.obstacle->who, HasSubstr("the team"));
  }
}

TEST(RequestVerdict, blocked_by_a_pool_has_the_pools_own_cause) {
  const Obstacle quota{.cause = "quota",
                       .scope = "provider ec2",
                       .text = "no quota",
                       .until = now + 1h,
                       .who = "the administrator of the account"};
  const Verdict verdict =
      judged(RequestSituation{.outlooks = {{.pool = WorkerPoolId("p"), .obstacle = &quota}}});
  ASSERT_EQ(verdict.kind, Kind::blocked);
  EXPECT_EQ(verdict.obstacle->cause, "quota");
  EXPECT_EQ(verdict.obstacle->until, now + 1h);
  EXPECT_THAT(verdict.text, HasSubstr("pool p cannot grow: no quota"));
}

TEST(RequestVerdict, waiting_for_a_release_says_why_its_pool_does_not_grow) {
  const Obstacle full{.cause = cause::max_capacity,
                      .scope = "pool p",
                      .text = "maxCapacity 3 is reached",
                      .who = "its owner"};
  const Verdict verdict = judged(RequestSituation{
      .large_enough = true, .outlooks = {{.pool = WorkerPoolId("p"), .obstacle = &full}}});
  EXPECT_EQ(verdict.kind, Kind::waiting);
  EXPECT_THAT(verdict.text, HasSubstr("maxCapacity 3 is reached"));
  ASSERT_TRUE(verdict.limited_by);
  EXPECT_EQ(verdict.limited_by->cause, cause::max_capacity);
}

TEST(RequestVerdict, waiting_for_a_pool_that_can_grow_though_another_cannot) {
  const Obstacle held{.cause = "capacity", .scope = "zone", .text = "none left", .who = "nobody"};
  const Verdict verdict = judged(RequestSituation{
      .outlooks = {{.pool = WorkerPoolId("p"), .obstacle = &held},
                   {.pool = WorkerPoolId("q"), .text = "has not been evaluated yet"}}});
  EXPECT_EQ(verdict.kind, Kind::waiting);
  EXPECT_THAT(verdict.text, HasSubstr("pool q will launch a worker for it"));
}

TEST(RequestVerdict, blocked_because_nobody_is_large_enough) {
  const Verdict some = judged(RequestSituation{.candidates = 3, .needs = "9 active-task"});
  ASSERT_EQ(some.kind, Kind::blocked);
  EXPECT_EQ(some.obstacle->cause, cause::no_worker);
  EXPECT_THAT(some.text, HasSubstr("none of the 3 workers that it may use has 9 active-task"));
  const Verdict none = judged(RequestSituation{.team = "a"});
  EXPECT_THAT(none.text, HasSubstr("team a may use no worker, and no pool"));
}

TEST(RequestVerdict, waiting_counts_the_queues_that_compete) {
  const auto text = [](std::int64_t position, std::int64_t lines) {
    return judged(RequestSituation{
                      .team = "a", .position = position, .lines = lines, .large_enough = true})
        .text;
  };
  EXPECT_EQ(text(1, 1), "first in the queue of team a; no other queue competes for these workers");
  EXPECT_EQ(text(1, 2), "first in the queue of team a; 1 other queue competes for these workers");
  EXPECT_EQ(text(2, 6),
            "number 2 in the queue of team a; 5 other queues compete for these workers");
}

TEST(RequestVerdict, a_reservation_is_told) {
  EXPECT_THAT(judged(RequestSituation{.worker = "worker 9", .large_enough = true}).text,
              HasSubstr("worker 9 is reserved for it"));
}

// -------------------------------------------------------------------------------------------------
// Pools

PoolSituation pool(PoolOutcome outcome) {
  return {.outcome = outcome,
          .pool = WorkerPoolId("p/w"),
          .reason = "because",
          .owner = "o@example.com",
          .strategy = "classic",
          .capacity = "3 running, 0 requested",
          .workers = 3,
          .wanted = 2,
          .max_capacity = 3};
}

TEST(PoolVerdict, every_outcome_has_its_kind_and_cause) {
  const struct {
    PoolOutcome outcome;
    Kind kind;
    std::string cause;
  } rows[] = {
      {PoolOutcome::not_evaluated, Kind::waiting, ""},
      {PoolOutcome::unconfigured, Kind::waiting, ""},
      {PoolOutcome::strategy_failed, Kind::blocked, cause::strategy},
      {PoolOutcome::at_target, Kind::placed, ""},
      {PoolOutcome::kept_in_service, Kind::placed, ""},
      {PoolOutcome::full, Kind::blocked, cause::max_capacity},
      {PoolOutcome::no_bids, Kind::blocked, cause::no_launch_config},
      {PoolOutcome::bids_refused, Kind::blocked, cause::no_bids},
      {PoolOutcome::launched, Kind::launching, ""},
  };
  for (const auto& row : rows) {
    const Verdict verdict = judged(pool(row.outcome));
    EXPECT_EQ(verdict.kind, row.kind) << verdict.text;
    EXPECT_EQ(verdict.obstacle ? verdict.obstacle->cause : "", row.cause) << verdict.text;
  }
}

TEST(PoolVerdict, at_target_size_says_so_before_the_arithmetic) {
  PoolSituation situation = pool(PoolOutcome::at_target);
  EXPECT_EQ(judged(situation).text, "at target size: no pending work (because)");
  situation.pending = 2;
  EXPECT_EQ(judged(situation).text, "at target size: 2 pending (because)");
}

TEST(PoolVerdict, a_pool_that_is_gone_blocks_those_who_wait_for_it) {
  PoolSituation situation = pool(PoolOutcome::unconfigured);
  situation.pending = 4;
  const Verdict verdict = judged(situation);
  EXPECT_EQ(verdict.kind, Kind::blocked);
  EXPECT_EQ(verdict.obstacle->cause, cause::not_configured);
}

TEST(PoolVerdict, a_full_pool_names_the_key_and_its_owner) {
  const Verdict verdict = judged(pool(PoolOutcome::full));
  EXPECT_EQ(verdict.obstacle->key, "maxCapacity");
  EXPECT_EQ(verdict.obstacle->pool, WorkerPoolId("p/w"));
  EXPECT_THAT(verdict.obstacle->who, HasSubstr("o@example.com, by raising maxCapacity"));
  EXPECT_THAT(verdict.text, HasSubstr("maxCapacity 3 is reached: 3 running"));
}

TEST(PoolVerdict, of_several_obstacles_the_one_that_ends_first_is_the_cause) {
  PoolSituation situation = pool(PoolOutcome::no_bids);
  for (int i = 0; i < 7; ++i)
    situation.obstacles.push_back({.cause = i == 4 ? "throttle" : "quota",
                                   .scope = "s",
                                   .text = "obstacle " + std::to_string(i),
                                   .until = now + (i == 4 ? 1min : 1h),
                                   .who = "somebody"});
  const Verdict verdict = judged(situation);
  EXPECT_EQ(verdict.obstacle->cause, "throttle");
  EXPECT_EQ(verdict.obstacle->until, now + 1min);
  EXPECT_THAT(verdict.text, HasSubstr("obstacle 0; obstacle 1"));
  EXPECT_THAT(verdict.text, HasSubstr("and 2 more"));
  EXPECT_THAT(verdict.text, Not(HasSubstr("obstacle 6")));
}

TEST(PoolVerdict, what_is_tried_again_says_when) {
  PoolSituation situation = pool(PoolOutcome::strategy_failed);
  situation.until = now + 15s;
  EXPECT_EQ(judged(situation).obstacle->until, now + 15s);
}

TEST(PoolVerdict, launching_says_when_most_of_it_is_there) {
  const Durations start = measured(1min);
  PoolSituation situation = pool(PoolOutcome::at_target);
  situation.requested = 20;
  situation.room_sources.assign(20, {.takes = &start});
  const Verdict verdict = judged(situation);
  EXPECT_EQ(verdict.kind, Kind::launching);
  ASSERT_TRUE(verdict.eta);
  EXPECT_GE(verdict.eta->p50, now + 58s);
  EXPECT_LE(verdict.eta->p50, now + 62s);
}

TEST(PoolVerdict, a_note_about_demand_shows) {
  PoolSituation situation = pool(PoolOutcome::at_target);
  situation.note = "the queue is stale";
  EXPECT_THAT(judged(situation).text, HasSubstr("(the queue is stale)"));
}

// -------------------------------------------------------------------------------------------------
// Launch configurations

TEST(LaunchConfigVerdict, says_what_stands_in_its_way) {
  LaunchConfigSituation situation{.capacity = "2 running, 0 requested", .workers = 2};
  EXPECT_EQ(judged(situation).kind, Kind::placed);
  situation.obstacle =
      Obstacle{.cause = cause::paused, .scope = "lc", .text = "paused", .who = "x"};
  EXPECT_EQ(judged(situation).kind, Kind::blocked);
  situation.requested = 1;
  EXPECT_EQ(judged(situation).kind, Kind::launching);
  EXPECT_THAT(judged(situation).text, HasSubstr("paused"));
}

TEST(LaunchConfigVerdict, an_archived_one_waits_for_its_last_worker) {
  EXPECT_EQ(judged(LaunchConfigSituation{.archived = true, .workers = 1}).kind, Kind::waiting);
  EXPECT_EQ(judged(LaunchConfigSituation{.archived = true}).kind, Kind::placed);
}

}  // namespace
}  // namespace muster::verdict
