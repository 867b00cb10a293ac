// Who is large enough, and who has room: requests that are too large for every worker, and workers
// that work for others, too.
#include <gtest/gtest.h>

#include "tests/unit/host/queue/fixture.hpp"

namespace muster::queue::testing {
namespace {

NewRequest with_memory(const std::string& team, std::int64_t memory) {
  return {.team = TeamId(team), .needs = {1, {{"memory", memory}}}};
}

WorkerOffer of_memory(std::int64_t memory) {
  return {.has = {1, {{"memory", memory}}}};
}

TEST(TooLarge, keeps_nobody_else_waiting) {
  Fixture fixture;
  fixture.worker(of_memory(8));
  const auto wrong = *fixture.ask(with_memory("a", 8'000'000));
  const auto right = *fixture.ask(with_memory("a", 8));
  EXPECT_EQ(fixture.holds(wrong), 0);
  EXPECT_GT(fixture.holds(right), 0);
  EXPECT_EQ(fixture.queue.situation_of(*fixture.queue.find(wrong)).large_enough, false);
}

TEST(TooLarge, is_served_in_its_old_place_when_a_larger_worker_comes) {
  Fixture fixture;
  fixture.worker(of_memory(8));
  const auto large = *fixture.ask(with_memory("a", 64));
  const auto small = *fixture.ask(with_memory("a", 8)), later = *fixture.ask(with_memory("a", 8));
  EXPECT_GT(fixture.holds(small), 0);
  const auto larger = fixture.worker(of_memory(64));
  EXPECT_EQ(fixture.holds(large), larger);
  EXPECT_EQ(fixture.holds(later), 0);
  EXPECT_EQ(fixture.queue.check(), "");
}

TEST(TooLarge, is_what_had_its_turn_when_the_largest_worker_leaves_or_drains) {
  Fixture fixture;
  const auto large = fixture.worker(of_memory(64));
  const auto holder = *fixture.ask(with_memory("b", 64));
  const auto waits = *fixture.ask(with_memory("a", 64)), small = *fixture.ask(with_memory("a", 8));
  ASSERT_EQ(fixture.holds(holder), large);
  fixture.queue.offer({.number = large, .has = {1, {{"memory", 64}}}, .takes_work = false},
                      fixture.now);
  EXPECT_EQ(fixture.queue.check(), "");
  fixture.worker(of_memory(8));
  EXPECT_GT(fixture.holds(small), 0) << "though one that is larger came before it";
  EXPECT_EQ(fixture.holds(waits), 0);
}

// Workers that live for one lease: the pool is empty between two of them. Else a line would begin
// to wait anew each time.
TEST(TooLarge, for_nobody_at_all_does_not_make_a_line_wait_from_the_beginning) {
  Fixture fixture({.patience = 10min});
  ASSERT_TRUE(fixture.queue.set_team(TeamId("light"), {.weight = 0.001}, fixture.now));
  ASSERT_TRUE(fixture.queue.set_team(TeamId("heavy"), {.weight = 1'000'000}, fixture.now));
  const auto first = fixture.worker();
  const auto before = fixture.ask("light");
  for (int i = 0; i < 100; ++i) fixture.ask("heavy");
  const auto light = fixture.ask("light");
  fixture.release(before);
  fixture.queue.withdraw(first, "it has done its work", fixture.now);
  int lives = 0;
  while (fixture.holds(light) == 0 && lives < 50) {
    ++lives;
    const auto worker = fixture.worker();
    fixture.wait(1min);
    fixture.queue.withdraw(worker, "it has done its work", fixture.now);
  }
  EXPECT_LE(lives, 12) << "its patience, and one grant for the other line";
}

TEST(TooLarge, is_demand_by_all_that_it_needs) {
  Fixture fixture;
  fixture.worker(of_memory(8));
  for (int i = 0; i < 3; ++i) (void)fixture.ask(with_memory("a", 64));
  (void)fixture.ask(with_memory("a", 32));
  std::map<std::int64_t, std::int64_t> wanted;
  for (const WaitingCapacity& waiting : fixture.queue.demand())
    wanted[waiting.needs.amount_of("memory")] += waiting.capacity;
  EXPECT_EQ(wanted, (std::map<std::int64_t, std::int64_t>{{32, 1}, {64, 3}}));
}

// -------------------------------------------------------------------------------------------------
// Work from elsewhere

TEST(Working, is_not_given_to_anybody) {
  Fixture fixture;
  const auto worker = fixture.worker(2);
  fixture.queue.set_working(worker, 2, fixture.now);
  const auto first = fixture.ask("a"), second = fixture.ask("a");
  EXPECT_EQ(fixture.holds(first), 0);
  fixture.queue.set_working(worker, 1, fixture.now);
  EXPECT_EQ(fixture.holds(first), worker);
  EXPECT_EQ(fixture.holds(second), 0) << "it has one from elsewhere";
  fixture.queue.set_working(worker, 2, fixture.now);  // it has begun with the lease
  fixture.release(first);
  EXPECT_EQ(fixture.holds(second), worker);
  EXPECT_EQ(fixture.queue.check(), "");
}

TEST(Working, for_a_lease_is_not_counted_twice) {
  Fixture fixture;
  const auto worker = fixture.worker(2);
  const auto first = fixture.ask("a");
  fixture.queue.set_working(worker, 1, fixture.now);
  const auto second = fixture.ask("a");
  EXPECT_EQ(fixture.holds(first), worker);
  EXPECT_EQ(fixture.holds(second), worker);
}

TEST(Working, does_not_lose_a_reservation) {
  Fixture fixture;
  const auto worker = fixture.worker(2);
  const auto small = fixture.ask("a"), other = fixture.ask("a");
  const auto big = fixture.ask("b", 2);
  fixture.release(small);  // the half that is free is kept for the big one
  for (int i = 0; i < 3; ++i) {
    fixture.queue.set_working(worker, i % 2, fixture.now);
    const auto late = fixture.ask("c");
    EXPECT_EQ(fixture.holds(late), 0);
  }
  fixture.release(other);
  EXPECT_EQ(fixture.holds(big), worker);
}

TEST(Share, is_that_of_the_scarcest_resource) {
  const Resources worker{8, {{"memory", 64}}};
  EXPECT_EQ(worker.share_of({2, {}}), 0.25);
  EXPECT_EQ(worker.share_of({2, {{"memory", 32}}}), 0.5);
  EXPECT_EQ(worker.share_of({1, {{"gpu", 1}}}), 1) << "it has none";
  EXPECT_EQ(worker.share_of({0, {}}), 0);
}

}  // namespace
}  // namespace muster::queue::testing
