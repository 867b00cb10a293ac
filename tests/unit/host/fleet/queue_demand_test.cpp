// What waits in the queue makes the fleet launch what can serve it, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/fleet/queue_requests.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

bool is_held(FleetDriver& driver, std::int64_t request) {
  return driver.fleet().queue().find(request)->state == queue::RequestState::held;
}

// Of every kind of strategy: one that counts what is idle as something that can be used.
void count_idle(FleetDriver& driver) {
  driver.size = [](const SizeRequest& request) -> Result<Size> {
    const auto& [running, requested, stopping, idle] = request.capacity;
    return Size{std::max<std::int64_t>(0, request.pending - idle - requested), "what is missing"};
  };
}

std::vector<std::string> kinds(FleetDriver& driver, WorkerState state) {
  std::vector<std::string> ids;
  for (const Worker* worker : driver.workers(state))
    ids.push_back(driver.fleet()
                      .launch_configs()[worker->launch_config]
                      .spec->launch_config.launch_config_id.str());
  return ids;
}

TEST(QueueDemand, of_what_no_worker_could_have_is_none) {
  FleetDriver driver = simple_fleet(
      {.id = "p/w", .launch_configs = {with_facts("lc-1", 4, {{"resources", {{"memory", 64}}}})}});
  const auto more_memory = want(driver, {.needs = {1, {{"memory", 65}}}});
  const auto more_tasks = want(driver, {.needs = {5, {}}});
  const auto something_else = want(driver, {.needs = {1, {{"gpu", 1}}}});
  driver.advance(1min);
  EXPECT_EQ(driver.pool("p/w").demand.pending, 0);
  EXPECT_TRUE(driver.workers(WorkerState::requested).empty()) << "it would cost and not help";
  for (const std::int64_t request : {more_memory, more_tasks, something_else})
    EXPECT_EQ(driver.fleet().verdict_of(*driver.fleet().queue().find(request), driver.now()).kind,
              verdict::Kind::blocked);
}

TEST(QueueDemand, is_seen_by_a_launch_configuration_that_comes_later) {
  FleetDriver driver = simple_fleet();
  const auto request = want(driver, {.tags = {"gpu"}});
  driver.advance(1min);
  driver.configure(
      {{.id = "p/w", .launch_configs = {with_facts("lc-gpu", 1, {{"tags", {"gpu"}}})}}});
  driver.advance(1s);
  driver.register_all();
  EXPECT_TRUE(is_held(driver, request));
}

TEST(QueueDemand, moves_to_another_pool_when_the_first_is_full) {
  FleetDriver driver;
  driver.configure({{.id = "p/a", .launch_configs = {{"lc-a"}}, .max_capacity = 1},
                    {.id = "p/b", .launch_configs = {{"lc-b"}}}});
  driver.provider_up();
  const auto request = want(driver, {});
  driver.advance(1s);
  ASSERT_EQ(driver.pool("p/a").in_queue, 1);
  driver.demand("p/a", 1);
  driver.register_all();  // what serves others, too
  for (const Worker* worker : driver.workers(WorkerState::running))
    ASSERT_TRUE(driver.active(worker->worker_id, 1));
  const auto second = want(driver, {});
  driver.advance(10min);
  driver.register_all();
  EXPECT_TRUE(is_held(driver, request) && is_held(driver, second));
}

TEST(QueueDemand, moves_to_another_pool_while_the_provider_has_nothing_for_the_first) {
  for (const bool renamed : {false, true}) {
    FleetDriver driver;
    const std::string dry = renamed ? "p/z" : "p/a";
    driver.configure(
        {{.id = dry, .launch_configs = {{"lc-dry"}}}, {.id = "p/b", .launch_configs = {{"lc-b"}}}});
    driver.cloud().refuses = [](const LaunchConfig& config) -> std::optional<Error> {
      if (config.launch_config_id.str() != "lc-dry") return std::nullopt;
      return Error::capacity("none left").of_launch_config("lc-dry").hold_for(1h);
    };
    driver.provider_up();
    const auto request = want(driver, {});
    driver.advance(2min);
    driver.register_all();
    EXPECT_TRUE(is_held(driver, request)) << dry;
  }
}

TEST(QueueDemand, stays_with_a_held_pool_if_no_other_could_serve_it) {
  FleetDriver driver = simple_fleet();
  driver.cloud().refuses = [](const LaunchConfig&) -> std::optional<Error> {
    return Error::capacity("none left").of_launch_config("lc-1").hold_for(1h);
  };
  want(driver, {});
  driver.advance(2min);
  EXPECT_EQ(driver.pool("p/w").in_queue, 1);
}

TEST(QueueDemand, counts_what_runs_out_first) {
  FleetDriver driver = simple_fleet(
      {.id = "p/w", .launch_configs = {with_facts("lc-1", 8, {{"resources", {{"memory", 64}}}})}});
  count_idle(driver);
  std::vector<std::int64_t> requests;
  for (int i = 0; i < 6; ++i) requests.push_back(want(driver, {.needs = {1, {{"memory", 32}}}}));
  driver.advance(1s);
  EXPECT_EQ(driver.pool("p/w").in_queue, 24) << "each takes half a worker of 8";
  EXPECT_EQ(driver.workers(WorkerState::requested).size(), 3U);
  driver.register_all();
  for (const std::int64_t request : requests) EXPECT_TRUE(is_held(driver, request));
  EXPECT_EQ(driver.pool("p/w").totals.idle, 0) << "nobody else could use what is left";
}

TEST(QueueDemand, of_requests_that_do_not_fit_into_what_is_left_is_launched_for) {
  FleetDriver driver = simple_fleet(
      {.id = "p/w", .launch_configs = {with_facts("lc-1", 8, {{"resources", {{"memory", 100}}}})}});
  count_idle(driver);
  std::vector<std::int64_t> requests;
  for (int i = 0; i < 3; ++i) requests.push_back(want(driver, {.needs = {1, {{"memory", 60}}}}));
  for (int i = 0; i < 5; ++i) {
    driver.advance(10s);
    driver.register_all();
  }
  for (const std::int64_t request : requests) EXPECT_TRUE(is_held(driver, request));
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 3U);
}

TEST(QueueDemand, launches_only_those_launch_configurations_whose_workers_serve_it) {
  FleetDriver driver = simple_fleet(
      {.id = "p/w",
       .launch_configs = {{"lc-plain"}, with_facts("lc-gpu", 1, {{"tags", {"gpu"}}})}});
  const auto request = want(driver, {.tags = {"gpu"}});
  driver.advance(1s);
  EXPECT_EQ(kinds(driver, WorkerState::requested), std::vector<std::string>{"lc-gpu"});
  driver.register_all();
  EXPECT_TRUE(is_held(driver, request));
  const auto plain = want(driver, {});
  driver.advance(1s);
  EXPECT_EQ(kinds(driver, WorkerState::requested), std::vector<std::string>{"lc-plain"});
  driver.register_all();
  EXPECT_TRUE(is_held(driver, plain));
}

TEST(QueueDemand, is_not_met_by_idle_workers_that_do_not_serve_it_and_they_make_room) {
  FleetDriver driver =
      simple_fleet({.id = "p/w",
                    .launch_configs = {{"lc-plain"}, with_facts("lc-gpu", 1, {{"tags", {"gpu"}}})},
                    .max_capacity = 2,
                    .lifecycle = {.idle_timeout = 60s}});
  count_idle(driver);
  const auto first = want(driver, {}), second = want(driver, {});
  driver.advance(1s);
  driver.register_all();
  for (const std::int64_t request : {first, second})
    ASSERT_TRUE(driver.fleet().change_queue(driver.now()).release(request, driver.wall()));
  driver.settle();
  ASSERT_EQ(driver.pool("p/w").totals.idle, 2);
  const auto gpu = want(driver, {.tags = {"gpu"}});
  for (int i = 0; i < 10 && !is_held(driver, gpu); ++i) {
    driver.advance(1min);
    driver.register_all();
  }
  EXPECT_TRUE(is_held(driver, gpu));
}

TEST(QueueDemand, does_not_keep_others_from_launching_what_they_need) {
  FleetDriver driver = simple_fleet(
      {.id = "p/w",
       .launch_configs = {{"lc-plain"}, with_facts("lc-gpu", 1, {{"tags", {"gpu"}}})}});
  want(driver, {.tags = {"gpu"}});
  driver.demand("p/w", 30);
  driver.advance(10s);
  EXPECT_THAT(kinds(driver, WorkerState::requested), testing::Contains("lc-plain"));
}

TEST(QueueDemand, what_a_worker_does_for_others_is_not_given_out) {
  FleetDriver driver = simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 1});
  driver.demand("p/w", 1);
  driver.register_all();
  const std::string worker = driver.workers(WorkerState::running)[0]->worker_id;
  ASSERT_TRUE(driver.active(worker, 1));
  const auto request = want(driver, {});
  EXPECT_FALSE(is_held(driver, request));
  driver.crash();
  driver.start_again();
  EXPECT_FALSE(is_held(driver, request)) << "also not after a restart";
  ASSERT_TRUE(driver.active(worker, 0));
  EXPECT_TRUE(is_held(driver, request));
  EXPECT_EQ(driver.workers(WorkerState::running)[0]->busy, 1);
}

}  // namespace
}  // namespace muster::fleet
