// What workers say of themselves to the queue, beside what their launch configuration says of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/queue/queue.hpp"
#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PoolSketch pool_of(const json::object& queue_section, std::int64_t capacity = 1) {
  LaunchSketch sketch{"lc-1"};
  sketch.capacity = capacity;
  sketch.worker_config = {{"queue", queue_section}};
  return {.id = "p/w", .launch_configs = {sketch}};
}

// A pool of one worker that has just been launched.
struct Newborn {
  FleetDriver driver;
  WorkerName name;

  explicit Newborn(const PoolSketch& sketch)
      : driver(simple_fleet(sketch, {.stopped_kept = 1min})) {
    driver.demand("p/w", 1);
    name = driver.name(driver.workers(WorkerState::requested).at(0)->worker_id);
  }
  Result<Registered> announce(const std::optional<QueueFacts>& facts) {
    auto done =
        driver.fleet().register_worker(name, ProviderId("cloud"), driver.secret, driver.now(),
                                       {.reported = facts, .registration_key = sha256("its own")});
    driver.settle();
    return done;
  }
  const queue::Worker& offered() {
    driver.fleet().change_queue(driver.now());
    driver.settle();
    return *driver.fleet().queue().find_worker(driver.workers(WorkerState::running).at(0)->number);
  }
  std::string team() {
    const queue::Worker& worker = offered();
    return worker.team == queue::no_index ? ""
                                          : driver.fleet().queue().teams()[worker.team].id.str();
  }
  bool serves(std::int64_t memory) {
    const auto number = driver.fleet().request_worker(
        {.team = queue::TeamId("a"), .needs = {1, {{"memory", memory}}}, .heartbeat = 24h},
        driver.now());
    driver.settle();
    return driver.fleet().queue().find(*number)->state == queue::RequestState::held;
  }
};

TEST(AnnouncedFacts, are_refused_where_they_are_not_allowed_and_nobody_is_let_in) {
  Newborn worker(pool_of({{"announce", {"tags"}}}));
  const auto refused = worker.announce(QueueFacts{.resources = {{"memory", 64}}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("may not report `resources`"));
  EXPECT_THAT(worker.driver.workers(WorkerState::running), IsEmpty());
  EXPECT_TRUE(worker.announce(QueueFacts{.tags = {{"gpu"}}}));
}

TEST(AnnouncedFacts, are_handed_out) {
  Newborn worker(pool_of({}));
  ASSERT_TRUE(worker.announce(QueueFacts{.resources = {{"memory", 64}}}));
  EXPECT_FALSE(worker.serves(65));
  EXPECT_TRUE(worker.serves(64));
}

TEST(AnnouncedFacts, count_less_than_what_the_configuration_says) {
  Newborn worker(pool_of({{"resources", {{"memory", 32}}},
                          {"tags", json::array()},
                          {"announce", {"resources", "tags", "team"}}}));
  ASSERT_TRUE(worker.announce(
      QueueFacts{.resources = {{"memory", 64}, {"disk", 7}}, .tags = {{"gpu"}}, .team = "ios"}));
  EXPECT_EQ(worker.offered().has, (queue::Resources{1, {{"disk", 7}, {"memory", 32}}}));
  EXPECT_THAT(worker.offered().tags, IsEmpty());
  EXPECT_EQ(worker.team(), "ios");
}

TEST(AnnouncedFacts, of_the_next_registration_replace_those_of_the_one_before) {
  Newborn worker(pool_of({}));
  ASSERT_TRUE(worker.announce(QueueFacts{.resources = {{"memory", 64}}, .tags = {{"gpu"}}}));
  EXPECT_THAT(worker.offered().tags, ElementsAre("gpu"));
  ASSERT_TRUE(worker.announce(QueueFacts{.resources = {{"memory", 16}}}));
  EXPECT_EQ(worker.offered().has.amount_of("memory"), 16);
  EXPECT_THAT(worker.offered().tags, IsEmpty());
  ASSERT_TRUE(worker.announce(std::nullopt));
  EXPECT_EQ(worker.offered().has.amount_of("memory"), 0);
  EXPECT_EQ(worker.driver.rows("worker_facts"), 0U);
}

TEST(AnnouncedFacts, are_there_after_a_restart_and_gone_with_their_worker) {
  Newborn worker(pool_of({}));
  ASSERT_TRUE(worker.announce(QueueFacts{.resources = {{"memory", 64}}, .tags = {{"gpu"}}}));
  worker.driver.crash();
  worker.driver.start_again();
  EXPECT_EQ(worker.offered().has.amount_of("memory"), 64);
  EXPECT_THAT(worker.offered().tags, ElementsAre("gpu"));
  store::MemoryStore anew;
  ASSERT_TRUE(anew.commit(worker.driver.fleet().everything()));
  EXPECT_EQ(anew.contents().at("worker_facts").size(), 1U);
  ASSERT_TRUE(worker.driver.fleet().remove_worker(worker.name, "old", worker.driver.now()));
  worker.driver.advance(5min);
  EXPECT_EQ(worker.driver.rows("worker_facts"), 0U);
}

// It counts its tasks; sums of the pool are in its capacity.
TEST(AnnouncedFacts, may_say_that_it_does_more_or_less_at_once_than_its_capacity_is) {
  Newborn many(pool_of({}));
  ASSERT_TRUE(many.announce(QueueFacts{.resources = {{"active-task", 8}}}));
  EXPECT_EQ(many.offered().has.active_task, 8);
  EXPECT_FALSE(many.driver.active(many.name.worker_id.str(), 9));
  ASSERT_TRUE(many.driver.active(many.name.worker_id.str(), 3));
  EXPECT_EQ(many.offered().active(), 3);
  EXPECT_EQ(many.driver.pool("p/w").totals.busy, 1);
  many.driver.crash();
  many.driver.start_again();
  EXPECT_EQ(many.driver.pool("p/w").totals.busy, 1);
  EXPECT_EQ(many.offered().active(), 3);

  Newborn few(pool_of({}, 8));
  ASSERT_TRUE(few.announce(QueueFacts{.resources = {{"active-task", 2}}}));
  EXPECT_EQ(few.offered().has.active_task, 2);
  ASSERT_TRUE(few.driver.active(few.name.worker_id.str(), 1));
  EXPECT_EQ(few.driver.pool("p/w").totals.busy, 4);
}

}  // namespace
}  // namespace muster::fleet
