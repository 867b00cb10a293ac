// Exactly one verdict for every situation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/queue/scene.hpp"

namespace muster::queue::testing {
namespace {

using ::testing::HasSubstr;

const Time now{std::chrono::hours(24 * 365 * 50)};

TEST(Verdict, placed_says_where) {
  const Verdict verdict = judge({.held = true, .worker = "worker 7"}, now);
  EXPECT_EQ(verdict.kind, VerdictKind::placed);
  EXPECT_THAT(verdict.text, HasSubstr("worker 7"));
}

TEST(Verdict, waiting_says_the_position_and_when) {
  const Verdict verdict = judge(
      {.position = 3, .lines = 4, .candidates = 2, .large_enough = true, .interval = 10s}, now);
  EXPECT_EQ(verdict.kind, VerdictKind::waiting);
  EXPECT_EQ(verdict.position, 3);
  EXPECT_EQ(verdict.eta, now + 120s);
}

TEST(Verdict, waiting_without_a_measure_says_no_time) {
  EXPECT_FALSE(judge({.candidates = 1, .large_enough = true}, now).eta);
}

TEST(Verdict, launching_says_when_it_is_expected) {
  const Outlook outlook{.pool = WorkerPoolId("p"), .launching = 2, .ready = now + 30s};
  Situation situation{.candidates = 1, .large_enough = true, .outlooks = {outlook}};
  EXPECT_EQ(judge(situation, now).kind, VerdictKind::launching);
  EXPECT_EQ(judge(situation, now).eta, now + 30s);
  situation.position = 3;
  EXPECT_EQ(judge(situation, now).kind, VerdictKind::waiting) << "two others come before";
}

TEST(Verdict, blocked_by_the_limit_of_the_team) {
  const Verdict verdict = judge({.team = "a",
                                 .needs = 2,
                                 .candidates = 1,
                                 .large_enough = true,
                                 .team_held = 3,
                                 .team_limit = 4},
                                now);
  EXPECT_EQ(verdict.kind, VerdictKind::blocked);
  EXPECT_EQ(verdict.cause, "teamLimit");
  EXPECT_EQ(verdict.scope, "team a");
  EXPECT_THAT(verdict.text, HasSubstr("3 of the 4"));
  EXPECT_THAT(verdict.who, HasSubstr("the team"));
}

TEST(Verdict, blocked_by_a_pool_says_until_when_and_who_can_mend_it) {
  const Verdict verdict = judge({.outlooks = {{.pool = WorkerPoolId("p"),
                                               .largest_worker = 1,
                                               .blocked = true,
                                               .text = "no quota",
                                               .until = now + 1h,
                                               .owner = "b@example.com"}}},
                                now);
  EXPECT_EQ(verdict.kind, VerdictKind::blocked);
  EXPECT_EQ(verdict.cause, "pool");
  EXPECT_THAT(verdict.text, HasSubstr("no quota"));
  EXPECT_EQ(verdict.until, now + 1h);
  EXPECT_THAT(verdict.who, HasSubstr("b@example.com"));
}

TEST(Verdict, waiting_for_a_pool_that_can_grow) {
  const Outlook outlook{.pool = WorkerPoolId("p"), .largest_worker = 4, .text = "soon"};
  EXPECT_EQ(judge({.needs = 4, .outlooks = {outlook}}, now).kind, VerdictKind::waiting);
  const Verdict verdict = judge({.needs = 5, .outlooks = {outlook}}, now);
  EXPECT_EQ(verdict.kind, VerdictKind::blocked) << "none of its workers would be large enough";
  EXPECT_EQ(verdict.cause, "noWorker");
}

TEST(Verdict, blocked_because_nobody_is_large_enough) {
  const Verdict verdict = judge({.candidates = 3}, now);
  EXPECT_EQ(verdict.kind, VerdictKind::blocked);
  EXPECT_THAT(verdict.text, HasSubstr("none of the 3 workers"));
}

TEST(Situation, knows_its_place_and_who_could_serve_it) {
  Scene scene;
  scene.worker(2);
  scene.ask("a", 2);
  const auto first = scene.ask("b"), second = scene.ask("b"), large = scene.ask("b", 3);
  const auto of = [&](std::int64_t request) {
    return scene.queue.situation_of(*scene.queue.find(request));
  };
  EXPECT_EQ(of(first).position, 1);
  EXPECT_EQ(of(second).position, 2);
  EXPECT_EQ(of(second).candidates, 1);
  EXPECT_TRUE(of(second).large_enough);
  EXPECT_FALSE(of(large).large_enough);
}

}  // namespace
}  // namespace muster::queue::testing
