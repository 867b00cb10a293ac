// The queue as a part of the fleet: its workers, its demand, its leases, and a host that dies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/queue/queue.hpp"
#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::int64_t ask(FleetDriver& driver, const std::string& team, queue::NewRequest ask = {}) {
  ask.team = queue::TeamId(team);
  ask.heartbeat = 24h;
  const auto number = driver.fleet().request_worker(std::move(ask), driver.now());
  EXPECT_TRUE(number) << number.error().message;
  driver.settle();
  return number ? *number : 0;
}

void release(FleetDriver& driver, std::int64_t request) {
  ASSERT_TRUE(driver.fleet().change_queue(driver.now()).release(request, driver.wall()));
  driver.settle();
}

queue::RequestState state(FleetDriver& driver, std::int64_t request) {
  const queue::Request* found = driver.fleet().queue().find(request);
  return found ? found->state : queue::RequestState::ended;
}

bool holds(FleetDriver& driver, std::int64_t request) {
  return state(driver, request) == queue::RequestState::held;
}

verdict::Verdict verdict(FleetDriver& driver, std::int64_t request) {
  return driver.fleet().verdict_of(*driver.fleet().queue().find(request), driver.now());
}

TEST(QueueOfFleet, launches_a_worker_for_each_request_and_grants_it_when_it_registers) {
  FleetDriver driver = simple_fleet();
  std::vector<std::int64_t> requests;
  for (int i = 0; i < 3; ++i) requests.push_back(ask(driver, "a"));
  driver.advance(1s);
  EXPECT_EQ(driver.pool("p/w").demand.pending, 3);
  EXPECT_EQ(driver.workers(WorkerState::requested).size(), 3U);
  EXPECT_EQ(verdict(driver, requests[0]).kind, verdict::Kind::launching);
  driver.register_all();
  for (const std::int64_t request : requests) EXPECT_TRUE(holds(driver, request));
  driver.advance(1s);
  EXPECT_EQ(driver.pool("p/w").demand.pending, 0);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 3U) << "no more than that";
  EXPECT_THAT(verdict(driver, requests[0]).text, HasSubstr("of p/w"));
}

TEST(QueueOfFleet, that_starts_again_knows_what_teams_may_hold_before_it_hands_out_workers) {
  Settings settings;
  settings.teams = {{queue::TeamId("a"), {.max_held = 1}}};
  settings.teams_origin = "muster.toml";
  FleetDriver driver =
      simple_fleet({.id = "p/w", .launch_configs = {{.id = "lc-1", .capacity = 2}}}, settings);
  const auto first = ask(driver, "a"), second = ask(driver, "a");
  driver.advance(1s);
  driver.register_all();
  ASSERT_TRUE(holds(driver, first));
  driver.crash();
  driver.start_again();
  EXPECT_TRUE(holds(driver, first));
  EXPECT_FALSE(holds(driver, second));
}

TEST(QueueOfFleet, adds_what_waits_to_what_sources_report) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 5);
  ask(driver, "a");
  driver.advance(1s);
  EXPECT_EQ(driver.pool("p/w").demand.pending, 6);
  driver.demand("p/w", 2);
  EXPECT_EQ(driver.pool("p/w").demand.pending, 3);
}

TEST(QueueOfFleet, counts_a_request_for_one_pool_only) {
  FleetDriver driver;
  driver.configure({{.id = "p/a", .launch_configs = {{"lc-a"}}, .max_capacity = 2},
                    {.id = "p/b", .launch_configs = {{"lc-b"}}}});
  driver.provider_up();
  for (int i = 0; i < 5; ++i) ask(driver, "team");
  driver.advance(1s);
  EXPECT_EQ(driver.pool("p/a").in_queue, 2) << "as far as it can grow";
  EXPECT_EQ(driver.pool("p/b").in_queue, 3);
}

TEST(QueueOfFleet, launches_only_where_workers_would_serve_the_request) {
  FleetDriver driver;
  LaunchSketch gpu{"lc-gpu"};
  gpu.worker_config = {{"queue", {{"tags", {"gpu"}}, {"resources", {{"memory", 64}}}}}};
  driver.configure(
      {{.id = "p/a", .launch_configs = {{"lc-a"}}}, {.id = "p/gpu", .launch_configs = {gpu}}});
  driver.provider_up();
  queue::NewRequest wanted;
  wanted.tags = {"gpu"};
  wanted.needs = {1, {{"memory", 64}}};
  const auto request = ask(driver, "team", wanted);
  driver.advance(1s);
  EXPECT_EQ(driver.pool("p/a").in_queue, 0);
  EXPECT_EQ(driver.pool("p/gpu").in_queue, 1);
  driver.register_all();
  EXPECT_TRUE(holds(driver, request));
}

TEST(QueueOfFleet, a_pool_of_a_file_with_teams_serves_them_alone) {
  PoolSketch sketch{.id = "p/w", .launch_configs = {{"lc-1"}}};
  auto spec = std::make_shared<PoolSpec>(*make_spec(sketch));
  spec->teams = {"owners"};
  FleetDriver driver = simple_fleet(sketch);
  auto configuration = std::make_shared<Configuration>();
  configuration->pools[spec->worker_pool_id] = spec;
  driver.fleet().configure(configuration, driver.now());
  driver.settle();
  const auto stranger = ask(driver, "strangers"), owner = ask(driver, "owners");
  driver.advance(1s);
  driver.register_all();
  EXPECT_TRUE(holds(driver, owner));
  EXPECT_FALSE(holds(driver, stranger));
  EXPECT_EQ(verdict(driver, stranger).obstacle->cause, "noWorker");
  const auto refused =
      driver.fleet()
          .change_queue(driver.now())
          .attach(spec->worker_pool_id, {queue::TeamId("strangers")}, false, driver.wall());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("builds.toml"));
}

TEST(QueueOfFleet, a_lease_keeps_its_worker_and_its_end_lets_it_go) {
  FleetDriver driver =
      simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}}, .lifecycle = {.idle_timeout = 60s}});
  const auto request = ask(driver, "a");
  driver.advance(1s);
  driver.register_all();
  ASSERT_TRUE(holds(driver, request));
  const WorkerName name = driver.name(driver.workers(WorkerState::running)[0]->worker_id);
  driver.advance(30min);
  EXPECT_TRUE(holds(driver, request));
  ASSERT_TRUE(driver.fleet().worker_active(name, 0, driver.now()));
  driver.advance(10min);
  EXPECT_TRUE(holds(driver, request)) << "whatever the worker says of itself";
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 1U);
  release(driver, request);
  driver.advance(5min);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 0U);
}

TEST(QueueOfFleet, a_worker_that_drains_gets_nothing_new_and_one_that_stops_ends_its_leases) {
  FleetDriver driver = simple_fleet(
      {.id = "p/w", .launch_configs = {{.id = "lc-1", .capacity = 2}}, .max_capacity = 2});
  const auto first = ask(driver, "a");
  driver.advance(1s);
  driver.register_all();
  ASSERT_TRUE(holds(driver, first));
  ASSERT_TRUE(driver.fleet().change_queue(driver.now()).heartbeat(first, driver.wall()));
  const WorkerName name = driver.name(driver.workers(WorkerState::running)[0]->worker_id);
  ASSERT_TRUE(driver.fleet().quarantine(name, driver.wall() + 1h, "odd", driver.now()));
  driver.settle();
  const auto second = ask(driver, "a");
  EXPECT_TRUE(holds(driver, first));
  EXPECT_FALSE(holds(driver, second));
  ASSERT_TRUE(driver.fleet().remove_worker(name, "broken", driver.now()));
  driver.settle();
  EXPECT_EQ(state(driver, first), queue::RequestState::ended);
  EXPECT_THAT(driver.fleet().queue().find(first)->reason, HasSubstr("broken"));
  EXPECT_FALSE(holds(driver, second)) << "it waits for another worker";
}

TEST(QueueOfFleet, says_when_a_pool_that_could_serve_it_is_blocked) {
  FleetDriver driver = simple_fleet();
  driver.cloud().refuses = [](const LaunchConfig&) { return Error::quota("no more cores"); };
  const auto request = ask(driver, "a");
  driver.advance(1min);
  const verdict::Verdict told = verdict(driver, request);
  EXPECT_EQ(told.kind, verdict::Kind::blocked) << told.text;
  EXPECT_EQ(told.obstacle->cause, "quota");
  EXPECT_THAT(told.obstacle->who, HasSubstr("account of cloud"));
}

// -------------------------------------------------------------------------------------------------
// A host that dies

TEST(QueueOfFleet, goes_on_after_a_restart_with_the_same_leases_and_the_same_line) {
  FleetDriver driver = simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 2});
  std::vector<std::int64_t> requests;
  for (int i = 0; i < 4; ++i) requests.push_back(ask(driver, "a"));
  driver.advance(1s);
  driver.register_all();
  ASSERT_TRUE(holds(driver, requests[0]));
  ASSERT_TRUE(holds(driver, requests[1]));
  driver.crash();
  driver.start_again();
  EXPECT_TRUE(holds(driver, requests[0]));
  EXPECT_TRUE(holds(driver, requests[1]));
  EXPECT_EQ(state(driver, requests[2]), queue::RequestState::waiting);
  for (const Worker* worker : driver.workers(WorkerState::running)) EXPECT_EQ(worker->busy, 1);
  release(driver, requests[1]);
  EXPECT_TRUE(holds(driver, requests[2]));
  EXPECT_FALSE(holds(driver, requests[3]));
}

// Whatever was durable when the host died, the next one has every request that its client was told
// of, and no worker has more leases than capacity.
TEST(QueueOfFleet, after_a_crash_at_every_write_no_request_is_lost_and_none_is_granted_twice) {
  FleetDriver driver = simple_fleet(
      {.id = "p/w", .launch_configs = {{.id = "lc-1", .capacity = 2}}, .max_capacity = 4});
  struct Moment {
    store::MemoryStore::Contents contents;
    std::vector<std::int64_t> there;
  };
  std::vector<Moment> moments;
  std::vector<std::int64_t> there;
  const auto note = [&] { moments.push_back({driver.store().contents(), there}); };
  for (int i = 0; i < 6; ++i) {
    there.push_back(ask(driver, i % 2 == 0 ? "a" : "b"));
    note();
  }
  driver.advance(1s);
  note();
  driver.register_all();
  note();
  while (there.size() > 2) {
    release(driver, there.front());
    there.erase(there.begin());
    note();
  }
  for (const Moment& moment : moments) {
    driver.crash_into(std::make_shared<store::MemoryStore>(moment.contents));
    driver.start_again();
    ASSERT_EQ(driver.fleet().queue().check(), "");
    for (const std::int64_t request : moment.there)
      EXPECT_NE(state(driver, request), queue::RequestState::ended) << request;
    for (const queue::Worker& worker : driver.fleet().queue().workers())
      EXPECT_LE(worker.used.active_task, 2);
  }
}

TEST(QueueOfFleet, costs_nothing_until_it_is_used) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 3);
  driver.register_all();
  EXPECT_TRUE(driver.fleet().queue().workers().empty());
  driver.demand("p/w", 0);
  const auto request = ask(driver, "a");
  EXPECT_TRUE(holds(driver, request)) << "from then on it knows all that run";
}

}  // namespace
}  // namespace muster::fleet
