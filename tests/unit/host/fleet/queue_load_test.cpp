// What operators see of the queue: who waits, for what and how long, and how large pools would be.
#include "host/fleet/queue_load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/fleet/queue_requests.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;

const WorkerPoolId pool_w("p/w"), pool_a("p/a"), pool_b("p/b");

// Workers stay as they are: nobody launches for what waits.
FleetDriver fleet_that_stays(PoolSketch sketch = {.id = "p/w", .launch_configs = {{"lc-1"}}}) {
  FleetDriver driver = simple_fleet(std::move(sketch));
  driver.size = [](const SizeRequest&) -> Result<Size> { return Size{0, "as many as there are"}; };
  return driver;
}

// A worker of the launch configuration, and nobody who wants it.
void launch_one(FleetDriver& driver) {
  driver.size = [](const SizeRequest& request) -> Result<Size> {
    const bool none = request.capacity.running + request.capacity.requested == 0;
    return Size{none ? 1 : 0, "one"};
  };
  driver.demand("p/w", 1);
  driver.advance(1s);
  driver.register_all();
  driver.demand("p/w", 0);
}

std::optional<Time> oldest_of(FleetDriver& driver, const QueueLoad& load, const char* team) {
  const auto& teams = driver.fleet().queue().teams();
  const auto at = std::ranges::find(teams, queue::TeamId(team), &queue::Team::id);
  return load.oldest_of_team.at(static_cast<std::size_t>(at - teams.begin()));
}

TEST(QueueLoad, of_a_fleet_that_nobody_asked_is_empty) {
  FleetDriver driver = simple_fleet();
  const QueueLoad load = load_of(driver.fleet());
  EXPECT_THAT(load.pools, IsEmpty());
  EXPECT_FALSE(load.oldest);
  EXPECT_EQ(load.unserved.requests, 0);
}

TEST(QueueLoad, counts_what_no_pool_could_serve_for_the_pool_that_it_names_and_lets_none_grow) {
  FleetDriver driver = fleet_that_stays();
  want(driver, {.pool = pool_w, .needs = {1, {{"memory", 1}}}});
  want(driver, {.pool = WorkerPoolId("p/unknown")});
  want(driver, {.tags = {"gpu"}});
  const QueueLoad load = load_of(driver.fleet());
  EXPECT_EQ(load.unserved.requests, 3);
  EXPECT_EQ(load.unserved.oldest, driver.wall());
  ASSERT_THAT(load.pools, ElementsAre(Key(WorkerPoolId("p/unknown")), Key(pool_w)));
  for (const auto& [id, pool] : load.pools) {
    EXPECT_EQ(pool.waiting.requests, 1) << id.str();
    EXPECT_EQ(pool.would_be(), 0) << id.str() << ": no size would help";
    EXPECT_THAT(pool.resources(), IsEmpty()) << id.str();
  }
}

TEST(QueueLoad, leaves_out_of_pools_what_a_team_may_not_hold_and_tells_its_wait) {
  FleetDriver driver = fleet_that_stays();
  ASSERT_TRUE(driver.fleet()
                  .change_queue(driver.now())
                  .set_team(queue::TeamId("team"), {.max_held = 3}, driver.wall()));
  const Time before = driver.wall();
  // Of both lines together no more than the team may hold, and no half of a request.
  for (int i = 0; i < 2; ++i) want(driver, {.needs = {2, {}}});
  want(driver, {.pool = pool_w, .needs = {2, {}}});
  const QueueLoad load = load_of(driver.fleet());
  EXPECT_EQ(load.unserved.requests, 1) << "a worker of this pool has a capacity of one";
  EXPECT_EQ(oldest_of(driver, load, "team"), before);
  EXPECT_EQ(driver.fleet().queue().waiting(), 3);
}

TEST(QueueLoad, shows_a_pool_that_has_nothing_but_demand) {
  FleetDriver driver = fleet_that_stays();
  for (int i = 0; i < 3; ++i) want(driver, {});
  const QueueLoad load = load_of(driver.fleet());
  ASSERT_THAT(load.pools, ElementsAre(Key(pool_w)));
  const PoolLoad& pool = load.pools.at(pool_w);
  EXPECT_EQ(pool.workers, 0);
  EXPECT_EQ(pool.waiting.requests, 3);
  EXPECT_EQ(pool.would_be(), 3);
  EXPECT_EQ(load.unserved.requests, 0);
}

TEST(QueueLoad, shows_a_pool_that_is_dedicated_and_has_nothing) {
  FleetDriver driver = simple_fleet();
  ASSERT_TRUE(driver.fleet().change_queue(driver.now()).set_pool(pool_a, {}, driver.wall()));
  EXPECT_THAT(load_of(driver.fleet()).pools, ElementsAre(Key(pool_a)));
}

TEST(QueueLoad, counts_each_request_for_one_pool) {
  FleetDriver driver;
  driver.configure(
      {{.id = "p/a", .launch_configs = {{.id = "lc-a", .capacity = 2}}, .max_capacity = 3},
       {.id = "p/b", .launch_configs = {{.id = "lc-b", .capacity = 2}}}});
  for (int i = 0; i < 3; ++i) want(driver, {.needs = {2, {}}});
  const QueueLoad load = load_of(driver.fleet());
  EXPECT_EQ(load.pools.at(pool_a).waiting.requests, 1) << "two do not fit";
  EXPECT_EQ(load.pools.at(pool_b).waiting.requests, 2);
  EXPECT_EQ(load.pools.at(pool_a).would_be() + load.pools.at(pool_b).would_be(), 6);
}

TEST(QueueLoad, tells_the_oldest_wait_by_team_and_by_pool_whatever_the_priority) {
  FleetDriver driver;
  driver.configure(
      {{.id = "p/a", .launch_configs = {{"lc-a"}}}, {.id = "p/b", .launch_configs = {{"lc-b"}}}});
  const auto ask = [&](const char* team, const WorkerPoolId& pool, std::int64_t priority) {
    want(driver, {.team = queue::TeamId(team), .pool = pool, .priority = priority});
    const Time asked = driver.wall();
    driver.advance(10s);
    return asked;
  };
  const Time first = ask("x", pool_a, 0);
  const Time second = ask("y", pool_b, 0);
  ask("x", pool_a, 5);
  ask("x", pool_b, 0);
  const QueueLoad load = load_of(driver.fleet());
  EXPECT_EQ(load.oldest, first);
  EXPECT_EQ(oldest_of(driver, load, "x"), first);
  EXPECT_EQ(oldest_of(driver, load, "y"), second);
  EXPECT_EQ(load.pools.at(pool_a).waiting.oldest, first);
  EXPECT_EQ(load.pools.at(pool_b).waiting.oldest, second);
}

TEST(QueueLoad, tells_the_waits_of_small_and_large_requests_of_a_line_apart) {
  FleetDriver driver;
  driver.configure({{.id = "p/a", .launch_configs = {{.id = "lc-a", .capacity = 1}}},
                    {.id = "p/b", .launch_configs = {{.id = "lc-b", .capacity = 8}}}});
  const Time first = driver.wall();
  want(driver, {.needs = {8, {}}});
  driver.advance(10s);
  const Time second = driver.wall();
  want(driver, {});
  const QueueLoad load = load_of(driver.fleet());
  EXPECT_EQ(load.pools.at(pool_b).waiting.oldest, first);
  EXPECT_EQ(load.pools.at(pool_a).waiting.oldest, second);
}

TEST(QueueLoad, tells_how_much_is_used_of_every_resource) {
  FleetDriver driver = simple_fleet(
      {.id = "p/w", .launch_configs = {with_facts("lc-1", 4, {{"resources", {{"memory", 8}}}})}});
  launch_one(driver);
  want(driver, {.needs = {1, {{"memory", 6}}}});
  want(driver, {.needs = {1, {{"memory", 4}}}});
  const PoolLoad pool = load_of(driver.fleet()).pools.at(pool_w);
  EXPECT_EQ(pool.workers, 1);
  const auto resources = pool.resources();
  ASSERT_EQ(resources.size(), 2U);
  EXPECT_EQ(resources[0].name, "active-task");
  EXPECT_EQ(resources[0].utilisation(), 0.25);
  EXPECT_EQ(resources[1].name, "memory");
  EXPECT_EQ(resources[1].has, 8);
  EXPECT_EQ(resources[1].used, 6);
  EXPECT_EQ(resources[1].utilisation(), 0.75);
  EXPECT_EQ(pool.would_be(), 5) << "memory binds three of four, and would bind two more";
}

TEST(QueueLoad, counts_work_from_elsewhere_as_use) {
  FleetDriver driver =
      fleet_that_stays({.id = "p/w", .launch_configs = {{.id = "lc-1", .capacity = 4}}});
  launch_one(driver);
  want(driver, {});
  const std::string worker = driver.workers(WorkerState::running).at(0)->worker_id;
  ASSERT_TRUE(driver.active(worker, 3));
  const PoolLoad pool = load_of(driver.fleet()).pools.at(pool_w);
  EXPECT_EQ(pool.used.active_task, 3);
  EXPECT_EQ(pool.would_be(), 3);
}

TEST(QueueLoad, of_a_clock_that_was_set_back_has_no_negative_wait) {
  EXPECT_EQ(seconds_since(Time(10s), Time(5s)), 0);
  EXPECT_EQ(seconds_since(Time(5s), Time(10s)), 5);
}

}  // namespace
}  // namespace muster::fleet
