// Why requests, pools and launch configurations are where they are, with the causes of a real
// fleet, and when what is wanted is expected, from what was measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/queue/queue.hpp"
#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class Verdicts : public testing::Test {
 protected:
  std::int64_t ask(const std::string& team, queue::Resources needs = {}) {
    const auto number = driver.fleet().request_worker(
        {.team = queue::TeamId(team), .needs = std::move(needs), .heartbeat = 24h}, driver.now());
    EXPECT_TRUE(number) << number.error().message;
    (void)driver.fleet().tell_verdict(*driver.fleet().queue().find(*number), driver.now());
    driver.settle();
    return *number;
  }
  void release(std::int64_t request) {
    ASSERT_TRUE(driver.fleet().change_queue(driver.now()).release(request, driver.wall()));
    driver.settle();
  }
  verdict::Verdict of_request(std::int64_t request) {
    return driver.fleet().verdict_of(*driver.fleet().queue().find(request), driver.now());
  }
  verdict::Verdict of_pool(const std::string& id = "p/w") {
    return driver.fleet().verdict_of(driver.pool(id), driver.now());
  }
  verdict::Verdict of_launch_config(const std::string& id = "lc-1") {
    const auto index =
        static_cast<Index>(driver.launch_config(id) - driver.fleet().launch_configs().data());
    const Pool& pool = driver.fleet().pools()[driver.launch_config(id)->pool];
    return driver.fleet().verdict_of(index, driver.fleet().weights_of(pool, driver.wall()),
                                     driver.now());
  }
  std::string cause(const verdict::Verdict& verdict) {
    EXPECT_EQ(verdict.kind, verdict::Kind::blocked) << verdict.text;
    return verdict.obstacle ? verdict.obstacle->cause : "";
  }
  // A worker that takes so long to start, and a lease of it that lasts so long.
  void serve_once(std::chrono::milliseconds start, std::chrono::milliseconds lease) {
    const auto request = ask("somebody");
    driver.advance(start);
    driver.register_all();
    driver.advance(lease);
    release(request);
  }

  FleetDriver driver = simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 2});
};

// -------------------------------------------------------------------------------------------------
// Causes

TEST_F(Verdicts, of_a_pool_that_is_full_name_its_key) {
  driver.demand("p/w", 5);
  driver.register_all();
  driver.advance(1s);
  EXPECT_EQ(cause(of_pool()), verdict::cause::max_capacity);
  EXPECT_EQ(of_pool().obstacle->key, "maxCapacity");
  EXPECT_EQ(cause(of_launch_config()), verdict::cause::max_capacity);
  driver.demand("p/w", 0);
  driver.advance(1s);
  EXPECT_EQ(of_pool().kind, verdict::Kind::placed);
  EXPECT_EQ(of_launch_config().kind, verdict::Kind::placed) << "nobody wants more";
}

TEST_F(Verdicts, of_a_launch_configuration_at_its_limit_name_the_key_and_whose_it_is) {
  driver.configure({{.id = "p/w", .launch_configs = {{.id = "lc-1", .max_capacity = 1}}}});
  driver.demand("p/w", 5);
  driver.register_all();
  driver.advance(1s);
  EXPECT_EQ(cause(of_launch_config()), verdict::cause::launch_config_limit);
  EXPECT_EQ(of_launch_config().obstacle->key, "workerManager.maxCapacity");
  EXPECT_EQ(of_launch_config().obstacle->launch_config, LaunchConfigId("lc-1"));
  EXPECT_EQ(cause(of_pool()), verdict::cause::launch_config_limit);
}

TEST_F(Verdicts, of_a_pool_whose_provider_has_given_out_all_it_may) {
  driver.provider_up("cloud", {.max_capacity = 1});
  driver.demand("p/w", 5);
  driver.register_all();
  driver.advance(1s);
  EXPECT_EQ(cause(of_pool()), verdict::cause::provider_limit);
  EXPECT_THAT(of_pool().obstacle->who, HasSubstr("launch.maxCapacity of provider cloud"));
}

TEST_F(Verdicts, of_a_provider_that_is_down) {
  driver.provider_down();
  driver.demand("p/w", 1);
  EXPECT_EQ(cause(of_pool()), verdict::cause::provider_down);
  EXPECT_EQ(cause(of_launch_config()), verdict::cause::provider_down);
}

TEST_F(Verdicts, of_a_pause_say_until_when_and_how_it_ends) {
  const Time until = driver.wall() + 1h;
  ASSERT_TRUE(driver.fleet().pause(WorkerPoolId("p/w"), LaunchConfigId("lc-1"), until, "tests",
                                   driver.now()));
  EXPECT_EQ(cause(of_launch_config()), verdict::cause::paused);
  EXPECT_EQ(of_launch_config().obstacle->until, until);
  EXPECT_THAT(of_launch_config().obstacle->who, HasSubstr("muster launch-configs resume p/w lc-1"));
  const auto request = ask("a");
  driver.advance(1s);
  EXPECT_EQ(cause(of_request(request)), verdict::cause::paused) << "the request has the same cause";
  EXPECT_EQ(of_request(request).obstacle->until, until);
}

TEST_F(Verdicts, of_holds_have_the_class_of_the_error) {
  driver.cloud().refuses = [](const LaunchConfig&) {
    return Error::auth("the key is wrong").in_region("eu");
  };
  driver.demand("p/w", 1);
  driver.advance(1s);
  EXPECT_EQ(cause(of_pool()), "auth");
  EXPECT_THAT(of_pool().obstacle->who, HasSubstr("credentials"));
  EXPECT_TRUE(of_pool().obstacle->until);
}

TEST_F(Verdicts, of_requests_are_counted_by_kind_and_cause) {
  for (int i = 0; i < 5; ++i) ask("a");
  ask("b", {100, {}});
  driver.advance(1s);
  auto counts = driver.fleet().count_verdicts(driver.now());
  EXPECT_EQ((counts[{verdict::Kind::launching, ""}]), 2) << "as many as are launched";
  EXPECT_EQ((counts[{verdict::Kind::blocked, verdict::cause::no_worker}]), 1);
  std::int64_t all = 0;
  for (const auto& [verdict, count] : counts) all += count;
  EXPECT_EQ(all, 6);
}

TEST_F(Verdicts, of_a_line_behind_its_teams_limit_are_all_blocked) {
  ASSERT_TRUE(driver.fleet()
                  .change_queue(driver.now())
                  .set_team(queue::TeamId("a"), {.max_held = 1}, driver.wall()));
  for (int i = 0; i < 4; ++i) ask("a");
  driver.advance(1s);
  driver.register_all();
  auto counts = driver.fleet().count_verdicts(driver.now());
  EXPECT_EQ((counts[{verdict::Kind::blocked, verdict::cause::team_limit}]), 3);
}

// -------------------------------------------------------------------------------------------------
// Times

TEST_F(Verdicts, know_no_time_before_something_was_measured) {
  const auto request = ask("a");
  driver.advance(1s);
  EXPECT_EQ(of_request(request).kind, verdict::Kind::launching);
  EXPECT_FALSE(of_request(request).eta);
}

TEST_F(Verdicts, expect_a_launch_to_take_as_long_as_the_last_one) {
  serve_once(2min, 1s);
  driver.advance(30min);  // it is idle, and ends
  driver.register_all();
  const auto request = ask("a");
  driver.advance(30s);
  ASSERT_EQ(driver.workers(WorkerState::requested).size(), 1U);
  const auto eta = of_request(request).eta;
  ASSERT_TRUE(eta);
  EXPECT_GE(eta->p50, driver.wall() + 80s);
  EXPECT_LE(eta->p50, driver.wall() + 100s);
  EXPECT_GT(eta->p90, eta->p50) << "one measure is not a certainty";
  EXPECT_TRUE(of_pool().eta);
  EXPECT_TRUE(of_launch_config().eta);
}

TEST_F(Verdicts, expect_a_release_after_leases_that_lasted_as_long) {
  for (int i = 0; i < 8; ++i) serve_once(1s, 10min);
  const auto holder = ask("a"), other = ask("b");
  driver.advance(1s);
  driver.register_all();
  ASSERT_EQ(of_request(holder).kind, verdict::Kind::placed);
  ASSERT_EQ(of_request(other).kind, verdict::Kind::placed);
  driver.advance(4min);
  const auto before = driver.fleet().queue().calibration().last();
  const auto next = ask("c");
  driver.advance(1s);
  const verdict::Verdict verdict = of_request(next);
  EXPECT_EQ(verdict.kind, verdict::Kind::waiting) << verdict.text;
  ASSERT_TRUE(verdict.eta);
  EXPECT_GE(verdict.eta->p50, driver.wall() + 5min);
  EXPECT_LE(verdict.eta->p50, driver.wall() + 7min);
  ASSERT_TRUE(verdict.limited_by);
  EXPECT_EQ(verdict.limited_by->cause, verdict::cause::max_capacity);
  // What was told is compared with what comes of it.
  driver.advance(6min);
  release(holder);
  EXPECT_EQ(of_request(next).kind, verdict::Kind::placed);
  const auto after = driver.fleet().queue().calibration().last();
  EXPECT_EQ(after.expectations, before.expectations + 1);
  EXPECT_EQ(after.kept_p90, before.kept_p90 + 1);
}

TEST_F(Verdicts, what_a_frozen_host_promised_is_not_held_against_its_predictions) {
  for (int i = 0; i < 8; ++i) serve_once(1s, 10min);
  const auto holder = ask("a"), other = ask("b");
  driver.advance(1s);
  driver.register_all();
  ASSERT_EQ(of_request(other).kind, verdict::Kind::placed);
  const auto before = driver.fleet().queue().calibration().last();
  const auto next = ask("c");
  driver.advance(1s);
  ASSERT_TRUE(of_request(next).eta);
  driver.freeze(2h);
  release(holder);
  ASSERT_EQ(of_request(next).kind, verdict::Kind::placed);
  EXPECT_EQ(driver.fleet().queue().calibration().last().expectations, before.expectations);
}

TEST_F(Verdicts, measures_outlast_a_restart) {
  serve_once(2min, 3min);
  driver.advance(2min);
  ASSERT_TRUE(driver.launch_config("lc-1")->times);
  driver.crash();
  driver.start_again();
  ASSERT_TRUE(driver.launch_config("lc-1")->times);
  const Times& times = *driver.launch_config("lc-1")->times;
  EXPECT_EQ(times.start.quantile(0.5), 2min);
  EXPECT_EQ(times.lease.quantile(0.5), 3min);
  EXPECT_EQ(driver.pool("p/w").times->start.quantile(0.5), 2min);
}

TEST(Measures, go_with_their_launch_configuration) {
  FleetDriver fleet = simple_fleet(
      {.id = "p/w", .launch_configs = {{"lc-1"}}, .lifecycle = {.reregistration_timeout = 1h}},
      {.stopped_kept = 1h});
  fleet.demand("p/w", 1);
  fleet.register_all();
  fleet.advance(2min);
  ASSERT_EQ(fleet.rows("times"), 1U);
  fleet.demand("p/w", 0);
  fleet.configure({});
  fleet.advance(4h);
  EXPECT_EQ(fleet.rows("times"), 0U);
}

TEST_F(Verdicts, a_lease_that_ends_with_its_worker_says_nothing_about_leases) {
  const auto request = ask("a");
  driver.advance(1s);
  driver.register_all();
  ASSERT_TRUE(driver.fleet().change_queue(driver.now()).heartbeat(request, driver.wall()));
  const WorkerName name = driver.name(driver.workers(WorkerState::running)[0]->worker_id);
  ASSERT_TRUE(driver.fleet().remove_worker(name, "broken", driver.now()));
  driver.settle();
  EXPECT_TRUE(driver.launch_config("lc-1")->times->lease.empty());
}

}  // namespace
}  // namespace muster::fleet
