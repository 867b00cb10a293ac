// Who is large enough, and who has room: requests that are too large for every worker, and workers
// that work for others, too.
#include <gtest/gtest.h>

#include "tests/unit/host/queue/fixture.hpp"

namespace muster::queue::testing {
namespace {

Ask with_memory(const std::string& team, std::int64_t memory) {
  return {.team = TeamId(team), .needs = {1, {{"memory", memory}}}};
}

Offered of_memory(std::int64_t memory) {
  return {.has = {1, {{"memory", memory}}}};
}

TEST(TooLarge, keeps_nobody_else_waiting) {
  Fixture scene;
  scene.worker(of_memory(8));
  const auto wrong = *scene.ask(with_memory("a", 8'000'000));
  const auto right = *scene.ask(with_memory("a", 8));
  EXPECT_EQ(scene.holds(wrong), 0);
  EXPECT_GT(scene.holds(right), 0);
  EXPECT_EQ(scene.queue.situation_of(*scene.queue.find(wrong)).large_enough, false);
}

TEST(TooLarge, is_served_in_its_old_place_when_a_larger_worker_comes) {
  Fixture scene;
  scene.worker(of_memory(8));
  const auto large = *scene.ask(with_memory("a", 64));
  const auto small = *scene.ask(with_memory("a", 8)), later = *scene.ask(with_memory("a", 8));
  EXPECT_GT(scene.holds(small), 0);
  const auto larger = scene.worker(of_memory(64));
  EXPECT_EQ(scene.holds(large), larger);
  EXPECT_EQ(scene.holds(later), 0);
  EXPECT_EQ(scene.queue.check(), "");
}

TEST(TooLarge, is_what_had_its_turn_when_the_largest_worker_leaves_or_drains) {
  Fixture scene;
  const auto large = scene.worker(of_memory(64));
  const auto holder = *scene.ask(with_memory("b", 64));
  const auto waits = *scene.ask(with_memory("a", 64)), small = *scene.ask(with_memory("a", 8));
  ASSERT_EQ(scene.holds(holder), large);
  scene.queue.offer({.number = large, .has = {1, {{"memory", 64}}}, .takes_work = false},
                    scene.now);
  EXPECT_EQ(scene.queue.check(), "");
  scene.worker(of_memory(8));
  EXPECT_GT(scene.holds(small), 0) << "though one that is larger came before it";
  EXPECT_EQ(scene.holds(waits), 0);
}

// Workers that live for one lease: the pool is empty between two of them. Else a line would begin
// to wait anew each time.
TEST(TooLarge, for_nobody_at_all_does_not_make_a_line_wait_from_the_beginning) {
  Fixture scene({.patience = 10min});
  ASSERT_TRUE(scene.queue.set_team(TeamId("light"), {.weight = 0.001}, scene.now));
  ASSERT_TRUE(scene.queue.set_team(TeamId("heavy"), {.weight = 1'000'000}, scene.now));
  const auto first = scene.worker();
  const auto before = scene.ask("light");
  for (int i = 0; i < 100; ++i) scene.ask("heavy");
  const auto light = scene.ask("light");
  scene.release(before);
  scene.queue.withdraw(first, "it has done its work", scene.now);
  int lives = 0;
  while (scene.holds(light) == 0 && lives < 50) {
    ++lives;
    const auto worker = scene.worker();
    scene.wait(1min);
    scene.queue.withdraw(worker, "it has done its work", scene.now);
  }
  EXPECT_LE(lives, 12) << "its patience, and one grant for the other line";
}

TEST(TooLarge, is_demand_by_all_that_it_needs) {
  Fixture scene;
  scene.worker(of_memory(8));
  for (int i = 0; i < 3; ++i) (void)scene.ask(with_memory("a", 64));
  (void)scene.ask(with_memory("a", 32));
  std::map<std::int64_t, std::int64_t> wanted;
  for (const Waiting& waiting : scene.queue.demand())
    wanted[waiting.needs.amount_of("memory")] += waiting.capacity;
  EXPECT_EQ(wanted, (std::map<std::int64_t, std::int64_t>{{32, 1}, {64, 3}}));
}

// -------------------------------------------------------------------------------------------------
// Work from elsewhere

TEST(Working, is_not_given_to_anybody) {
  Fixture scene;
  const auto worker = scene.worker(2);
  scene.queue.set_working(worker, 2, scene.now);
  const auto first = scene.ask("a"), second = scene.ask("a");
  EXPECT_EQ(scene.holds(first), 0);
  scene.queue.set_working(worker, 1, scene.now);
  EXPECT_EQ(scene.holds(first), worker);
  EXPECT_EQ(scene.holds(second), 0) << "it has one from elsewhere";
  scene.queue.set_working(worker, 2, scene.now);  // it has begun with the lease
  scene.release(first);
  EXPECT_EQ(scene.holds(second), worker);
  EXPECT_EQ(scene.queue.check(), "");
}

TEST(Working, for_a_lease_is_not_counted_twice) {
  Fixture scene;
  const auto worker = scene.worker(2);
  const auto first = scene.ask("a");
  scene.queue.set_working(worker, 1, scene.now);
  const auto second = scene.ask("a");
  EXPECT_EQ(scene.holds(first), worker);
  EXPECT_EQ(scene.holds(second), worker);
}

TEST(Working, does_not_lose_a_reservation) {
  Fixture scene;
  const auto worker = scene.worker(2);
  const auto small = scene.ask("a"), other = scene.ask("a");
  const auto big = scene.ask("b", 2);
  scene.release(small);  // the half that is free is kept for the big one
  for (int i = 0; i < 3; ++i) {
    scene.queue.set_working(worker, i % 2, scene.now);
    const auto late = scene.ask("c");
    EXPECT_EQ(scene.holds(late), 0);
  }
  scene.release(other);
  EXPECT_EQ(scene.holds(big), worker);
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
