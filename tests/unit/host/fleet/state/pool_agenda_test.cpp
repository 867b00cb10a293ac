// Which pools are reviewed, and when.
#include "host/fleet/state/pool_agenda.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Agenda : public ::testing::Test {
 protected:
  void advance(std::chrono::milliseconds by) {
    now.wall += by;
    now.steady += by;
    EXPECT_EQ(clock.advance(now), 0ms);
    agenda.run_timers();
  }
  // A review that ends without a bidding.
  void review() {
    for (const Index each : agenda.take_waiting()) EXPECT_TRUE(agenda.begin_review(each));
  }

  Settings settings;
  Now now{Time(24h), 1h};
  FleetClock clock{settings, now};
  Registry registry;
  PoolAgenda agenda{settings, clock, registry};
  const Index pool = registry.index_of_pool(WorkerPoolId("p/w"));
};

TEST_F(Agenda, a_pool_that_is_woken_twice_is_reviewed_once) {
  agenda.wake(pool);
  agenda.wake(pool, true);
  EXPECT_THAT(agenda.take_waiting(), ElementsAre(pool));
  EXPECT_THAT(agenda.take_waiting(), IsEmpty());
}

TEST_F(Agenda, without_an_urgent_cause_the_gap_is_kept) {
  agenda.wake(pool);
  review();
  agenda.wake(pool);
  EXPECT_THAT(agenda.take_waiting(), IsEmpty());
  EXPECT_EQ(agenda.next_wake(), clock.now() + settings.decision_gap);
  advance(settings.decision_gap);
  EXPECT_THAT(agenda.take_waiting(), ElementsAre(pool));
}

TEST_F(Agenda, an_urgent_cause_does_not_wait_for_the_gap) {
  agenda.wake(pool);
  review();
  agenda.wake(pool, true);
  EXPECT_THAT(agenda.take_waiting(), ElementsAre(pool));
}

TEST_F(Agenda, what_changes_during_the_bidding_is_reviewed_after_it) {
  agenda.wake(pool);
  review();
  agenda.begin_bidding(pool);
  EXPECT_FALSE(agenda.is_quiet(pool));
  agenda.wake(pool, true);
  EXPECT_THAT(agenda.take_waiting(), IsEmpty());
  advance(1s);
  agenda.end_bidding(pool, clock.now() + 60s);
  EXPECT_THAT(agenda.take_waiting(), ElementsAre(pool));
}

TEST_F(Agenda, the_earliest_timer_counts) {
  agenda.set_timer(pool, clock.now() + 10s);
  agenda.set_timer(pool, clock.now() + 5s);
  agenda.set_timer(pool, clock.now() + 20s);
  EXPECT_EQ(agenda.next_wake(), clock.now() + 5s);
  advance(5s);
  EXPECT_THAT(agenda.take_waiting(), ElementsAre(pool));
}

TEST_F(Agenda, a_pool_that_was_removed_is_not_reviewed) {
  agenda.wake(pool);
  agenda.set_timer(pool, clock.now() + 5s);
  registry.remove_pool(pool);
  for (const Index each : agenda.take_waiting()) EXPECT_FALSE(agenda.begin_review(each));
  advance(5s);
  EXPECT_THAT(agenda.take_waiting(), IsEmpty());
}

TEST(FleetClock, notices_that_the_wall_clock_was_set) {
  Settings settings;
  FleetClock clock(settings, {Time(24h), 1h});
  EXPECT_EQ(clock.advance({Time(24h) + settings.grace, 1h + settings.grace}), 0ms);
  EXPECT_TRUE(clock.may_judge());
  EXPECT_EQ(clock.advance({Time(48h), 1h + settings.grace}), 24h - settings.grace);
  EXPECT_FALSE(clock.may_judge()) << "times mean nothing for a while";
}

}  // namespace
}  // namespace muster::fleet
