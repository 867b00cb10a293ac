// A worker's life: it registers, renews its credentials, works, is told to end, and ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

PoolSketch sketch(Lifecycle lifecycle = {}, std::int64_t min_capacity = 0) {
  return {.id = "p/w",
          .launch_configs = {{"lc-1"}},
          .min_capacity = min_capacity,
          .lifecycle = std::move(lifecycle)};
}

// So many workers that registered, one after the other, and then nothing waits.
FleetDriver registered_fleet(std::int64_t workers, const PoolSketch& pool = sketch()) {
  FleetDriver driver = simple_fleet(pool);
  driver.demand("p/w", workers);
  driver.demand("p/w", 0);
  driver.register_all();
  EXPECT_EQ(driver.workers(WorkerState::running).size(), static_cast<std::size_t>(workers));
  return driver;
}

// -------------------------------------------------------------------------------------------------
// Registration

TEST(Registration, of_a_worker_that_nobody_knows_is_refused_and_looked_for) {
  FleetDriver driver = simple_fleet();
  driver.cloud().add("cloud-5", "p/w", "lc-1");
  const auto refused = driver.register_worker("cloud-5");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().error_class, ErrorClass::not_found);
  EXPECT_EQ(refused.error().code, "");
  driver.advance(6s);
  EXPECT_TRUE(driver.register_worker("cloud-5").has_value()) << "a listing was made soon";
}

TEST(Registration, with_a_provider_that_is_not_there_is_refused) {
  FleetDriver driver = registered_fleet(1);
  EXPECT_FALSE(driver.fleet().register_worker(driver.name("cloud-1"), ProviderId("x"),
                                              driver.secret, driver.now()));
}

TEST(Registration, in_a_pool_that_is_not_its_own_is_refused) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 1);
  WorkerName name = driver.name("cloud-1");
  name.worker_pool_id = WorkerPoolId("p/other");
  EXPECT_FALSE(
      driver.fleet().register_worker(name, ProviderId("cloud"), driver.secret, driver.now()));
}

TEST(Registration, gives_credentials_and_the_worker_configuration) {
  FleetDriver driver = simple_fleet(sketch({.reregistration_timeout = 1h}));
  driver.demand("p/w", 1);
  const auto registered = driver.register_worker("cloud-1");
  ASSERT_TRUE(registered.has_value());
  EXPECT_EQ(registered->launch_config_id.str(), "lc-1");
  EXPECT_EQ(registered->credentials_expire, driver.wall() + 1h);
  EXPECT_EQ(registered->worker_config, (json::object{{"version", 1}}));
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::running);
  EXPECT_EQ(driver.launch_config("lc-1")->health.last_hour(driver.wall()).registered, 1);
}

TEST(Registration, again_before_the_first_is_refused) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 1);
  const auto refused = driver.fleet().reregister_worker(driver.name("cloud-1"), driver.secret,
                                                        driver.secret, driver.now());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().error_class, ErrorClass::invalid);
}

TEST(Registration, of_a_worker_that_is_to_end_is_answered_with_gone) {
  FleetDriver driver = registered_fleet(1);
  ASSERT_TRUE(driver.fleet().remove_worker(driver.name("cloud-1"), "not needed", driver.now()));
  const auto refused = driver.fleet().reregister_worker(driver.name("cloud-1"), driver.secret,
                                                        driver.secret, driver.now());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, "gone");
  EXPECT_THAT(refused.error().message, HasSubstr("not needed"));
}

TEST(Registration,
     that_does_not_come_in_time_ends_the_worker_and_counts_against_its_launch_configuration) {
  FleetDriver driver = simple_fleet(sketch({.registration_timeout = 10min}));
  driver.demand("p/w", 1);
  driver.demand("p/w", 0);
  driver.advance(10min - 1s);
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::requested);
  driver.advance(10s);
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::stopped);
  EXPECT_TRUE(driver.cloud().instances.empty());
  ASSERT_EQ(driver.errors().size(), 1u);
  EXPECT_EQ(driver.errors()[0].kind, "registration-timeout");
  EXPECT_EQ(driver.errors()[0].launch_config_id.str(), "lc-1");
  EXPECT_EQ(driver.launch_config("lc-1")->health.last_hour(driver.wall()).failed, 1);
}

TEST(Registration,
     that_is_not_renewed_ends_the_worker_and_counts_against_its_launch_configuration) {
  FleetDriver driver = registered_fleet(1, sketch({.reregistration_timeout = 1h}));
  ASSERT_TRUE(driver.active("cloud-1", 1));
  driver.advance(50min);
  ASSERT_TRUE(driver.fleet().reregister_worker(driver.name("cloud-1"), driver.secret, driver.secret,
                                               driver.now()));
  driver.advance(59min);
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::running);
  driver.advance(2min);
  EXPECT_NE(driver.worker("cloud-1")->state, WorkerState::running);
  EXPECT_EQ(driver.errors().at(0).kind, "reregistration-timeout");
  EXPECT_EQ(driver.errors().at(0).launch_config_id.str(), "lc-1");
  EXPECT_EQ(driver.launch_config("lc-1")->health.last_hour(driver.wall()).errors(), 1);
}

// -------------------------------------------------------------------------------------------------
// Work

TEST(Work, more_than_a_worker_can_do_is_refused) {
  FleetDriver driver = registered_fleet(1);
  EXPECT_EQ(driver.active("cloud-1", 2).error().error_class, ErrorClass::invalid);
  EXPECT_EQ(driver.active("cloud-1", -1).error().error_class, ErrorClass::invalid);
  EXPECT_EQ(driver.active("cloud-9", 0).error().error_class, ErrorClass::not_found);
}

TEST(Work, of_a_worker_that_has_ended_is_answered_with_gone) {
  FleetDriver driver = registered_fleet(1);
  ASSERT_TRUE(driver.fleet().remove_worker(driver.name("cloud-1"), "test", driver.now()));
  EXPECT_EQ(driver.active("cloud-1", 1).error().code, "gone");
}

TEST(Work, the_first_claim_is_counted_once_also_after_idling) {
  FleetDriver driver = registered_fleet(1);
  for (const int busy : {0, 1, 0, 1}) ASSERT_TRUE(driver.active("cloud-1", busy));
  EXPECT_EQ(driver.launch_config("lc-1")->health.last_hour(driver.wall()).claimed, 1);
}

TEST(Work, a_worker_that_nobody_hears_of_is_ended_with_an_error_of_its_launch_configuration) {
  FleetDriver driver = registered_fleet(1, sketch({.queue_inactivity_timeout = 20min}));
  driver.advance(19min);
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::running);
  driver.advance(2min);
  EXPECT_NE(driver.worker("cloud-1")->state, WorkerState::running);
  EXPECT_EQ(driver.errors().at(0).kind, "inactivity-timeout");
  EXPECT_EQ(driver.errors().at(0).launch_config_id.str(), "lc-1");
}

TEST(Work, a_worker_that_works_is_not_inactive) {
  FleetDriver driver = registered_fleet(1, sketch({.queue_inactivity_timeout = 20min}));
  ASSERT_TRUE(driver.active("cloud-1", 1));
  driver.advance(2h);
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::running);
}

TEST(Work, an_error_that_a_worker_reports_is_kept_and_counts_against_its_launch_configuration) {
  FleetDriver driver = registered_fleet(1);
  ASSERT_TRUE(driver.fleet().report_error(driver.name("cloud-1"), "boot-error", "no disk",
                                          "mount failed", {{"disk", "sdb"}}, driver.now()));
  driver.settle();
  EXPECT_EQ(driver.errors().at(0).title, "no disk");
  EXPECT_EQ(driver.errors().at(0).extra.at("disk"), "sdb");
  EXPECT_EQ(driver.errors().at(0).extra.at("workerId"), "cloud-1");
  EXPECT_EQ(driver.launch_config("lc-1")->health.last_hour(driver.wall()).errors(), 1);
}

// -------------------------------------------------------------------------------------------------
// Interruptions

TEST(Interruptions, drain_the_worker_and_replace_it_before_the_loss) {
  FleetDriver driver = registered_fleet(1, sketch({}, 1));
  ASSERT_TRUE(driver.active("cloud-1", 1));
  driver.cloud().notices["cloud-1"] = {driver.wall() + 2min, "spot"};
  driver.advance(15s);
  EXPECT_EQ(driver.worker("cloud-1")->drain, Drain::interrupted);
  EXPECT_THAT(driver.worker("cloud-1")->reason, HasSubstr("spot"));
  EXPECT_EQ(driver.cloud().launched(), 2u) << "the next one boots while the first still runs";
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::running);
  driver.cloud().instances.erase("cloud-1");
  driver.cloud().notices.clear();
  driver.advance(3min);
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::stopped);
  EXPECT_TRUE(driver.errors().empty()) << "it was announced";
}

TEST(Interruptions, that_come_twice_replace_once) {
  FleetDriver driver = registered_fleet(1, sketch({}, 1));
  const Interruption notice{driver.wall() + 2min, "spot"};
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(driver.fleet().interrupt(driver.name("cloud-1"), notice, driver.now()));
  driver.cloud().notices["cloud-1"] = notice;
  driver.cloud().instances.at("cloud-1").interruption = notice;
  driver.advance(90s);
  EXPECT_EQ(driver.cloud().launched(), 2u);
}

TEST(Interruptions, that_come_late_or_for_nobody_harm_nobody) {
  FleetDriver driver = registered_fleet(1);
  ASSERT_TRUE(driver.fleet().remove_worker(driver.name("cloud-1"), "test", driver.now()));
  driver.cloud().notices["cloud-1"] = {driver.wall() - 1h, "late"};
  driver.cloud().notices["cloud-99"] = {driver.wall() + 1h, "nobody"};
  driver.advance(5min);
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::stopped);
  EXPECT_EQ(driver.worker("cloud-1")->drain, Drain::none);
}

TEST(Interruptions, of_a_worker_that_boots_end_it) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 1);
  driver.demand("p/w", 0);
  ASSERT_TRUE(
      driver.fleet().interrupt(driver.name("cloud-1"), {driver.wall() + 2min, ""}, driver.now()));
  driver.advance(1min);
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::stopped);
}

// -------------------------------------------------------------------------------------------------
// Too many

TEST(Shrinking, ends_those_that_are_idle_for_the_longest_first) {
  FleetDriver driver = registered_fleet(3, sketch({.idle_timeout = 10min}, 1));
  for (const char* id : {"cloud-2", "cloud-3", "cloud-1"}) {
    ASSERT_TRUE(driver.active(id, 0));
    driver.advance(1min);
  }
  driver.advance(7min + 30s);
  EXPECT_EQ(driver.worker("cloud-2")->drain, Drain::surplus);
  EXPECT_EQ(driver.worker("cloud-3")->drain, Drain::none);
  driver.advance(30min);
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::running) << "minCapacity is kept";
  EXPECT_EQ(driver.worker("cloud-2")->state, WorkerState::stopped);
  EXPECT_EQ(driver.worker("cloud-3")->state, WorkerState::stopped);
  EXPECT_TRUE(driver.errors().empty());
}

TEST(Shrinking, keeps_the_warm_capacity) {
  FleetDriver driver = registered_fleet(5, sketch({.idle_timeout = 5min, .warm_capacity = 2}));
  for (const std::string& id : driver.cloud().ids()) ASSERT_TRUE(driver.active(id, 0));
  for (int minute = 0; minute < 60; ++minute) {
    driver.advance(1min);
    for (const Worker* worker : driver.workers(WorkerState::running))
      (void)driver.fleet().worker_active(driver.name(worker->worker_id), 0, driver.now());
  }
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 2u);
}

TEST(Shrinking, does_not_end_a_worker_that_works) {
  FleetDriver driver = registered_fleet(2, sketch({.idle_timeout = 5min}));
  ASSERT_TRUE(driver.active("cloud-1", 1));
  ASSERT_TRUE(driver.active("cloud-2", 0));
  driver.advance(30min);
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::running);
  EXPECT_EQ(driver.worker("cloud-2")->state, WorkerState::stopped);
}

TEST(Shrinking, is_undone_when_demand_returns) {
  FleetDriver driver = registered_fleet(2, sketch({.idle_timeout = 5min}));
  for (const char* id : {"cloud-1", "cloud-2"}) ASSERT_TRUE(driver.active(id, 0));
  driver.advance(5min + 10s);
  ASSERT_EQ(driver.worker("cloud-1")->drain, Drain::surplus);
  driver.demand("p/w", 2);
  EXPECT_EQ(driver.worker("cloud-1")->drain, Drain::none);
  EXPECT_EQ(driver.worker("cloud-2")->drain, Drain::none);
  EXPECT_EQ(driver.cloud().launched(), 2u) << "nothing is launched for what is there";
  EXPECT_THAT(driver.worker("cloud-1")->reason, HasSubstr("there is work again"));
}

TEST(Shrinking, ends_no_more_than_the_strategy_calls_too_many_while_something_waits) {
  FleetDriver driver = registered_fleet(10, sketch({.idle_timeout = 5min}));
  driver.size = [](const SizeRequest& request) {
    return Result<Size>(Size{7 - request.capacity.running, "seven are enough"});
  };
  driver.demand("p/w", 1);
  for (const std::string& id : driver.cloud().ids()) ASSERT_TRUE(driver.active(id, 0));
  driver.advance(5min + 1s);
  EXPECT_EQ(driver.pool("p/w").totals.draining, 3);
}

TEST(Shrinking, a_worker_that_asks_is_told_whether_it_is_needed) {
  FleetDriver driver = registered_fleet(2, sketch({}, 1));
  const auto ask = [&](const char* id) {
    return driver.fleet().should_terminate(driver.name(id), driver.now()).value();
  };
  EXPECT_TRUE(ask("cloud-1").terminate);
  EXPECT_THAT(ask("cloud-1").reason, HasSubstr("over capacity"));
  EXPECT_FALSE(ask("cloud-2").terminate) << "minCapacity";
  EXPECT_EQ(ask("cloud-2").reason, "needed");
  EXPECT_FALSE(driver.fleet().should_terminate(driver.name("cloud-9"), driver.now()).has_value());
}

TEST(Shrinking, a_worker_is_needed_for_what_the_queue_says_is_claimed) {
  FleetDriver driver = registered_fleet(3);
  const auto claimed = [&](std::int64_t count) {
    driver.fleet().demand_changed({{WorkerPoolId("p/w"), {.pending = 0, .claimed = count}}},
                                  driver.now());
    driver.settle();
  };
  const auto ask = [&](const char* id) {
    return driver.fleet().should_terminate(driver.name(id), driver.now()).value();
  };
  claimed(3);
  for (const char* id : {"cloud-1", "cloud-2", "cloud-3"}) {
    EXPECT_FALSE(ask(id).terminate) << id;
    EXPECT_EQ(ask(id).reason, "needed");
  }
  claimed(2);
  EXPECT_TRUE(ask("cloud-1").terminate);
  EXPECT_FALSE(ask("cloud-2").terminate);
  EXPECT_FALSE(ask("cloud-3").terminate);
  claimed(0);
  EXPECT_TRUE(ask("cloud-2").terminate);
}

TEST(Shrinking, a_worker_that_tells_when_it_is_idle_may_be_so_for_its_time) {
  FleetDriver driver = registered_fleet(1, sketch({.idle_timeout = 5min}));
  const auto ends = [&] {
    return driver.fleet().should_terminate(driver.name("cloud-1"), driver.now())->terminate;
  };
  ASSERT_TRUE(driver.active("cloud-1", 1));
  EXPECT_FALSE(ends()) << "it said that it works";
  ASSERT_TRUE(driver.active("cloud-1", 0));
  EXPECT_FALSE(ends());
  driver.advance(5min - 1s);
  EXPECT_FALSE(ends());
  driver.advance(1s);
  EXPECT_TRUE(ends());
}

TEST(Shrinking, a_worker_that_leaves_because_it_was_told_to_shows_why_it_was) {
  FleetDriver driver = registered_fleet(1);
  ASSERT_TRUE(driver.fleet().should_terminate(driver.name("cloud-1"), driver.now())->terminate);
  ASSERT_TRUE(driver.fleet().remove_worker(driver.name("cloud-1"), "it left", driver.now()));
  EXPECT_THAT(driver.worker("cloud-1")->reason, HasSubstr("nothing waits for it (it left)"));
}

TEST(Shrinking, a_worker_that_asks_while_something_waits_is_needed) {
  FleetDriver driver = registered_fleet(1);
  driver.withhold = [](const Question& question) { return asks<AskSize>(question); };
  driver.demand("p/w", 1);
  EXPECT_FALSE(driver.fleet().should_terminate(driver.name("cloud-1"), driver.now())->terminate);
}

TEST(Shrinking, a_pool_above_a_lowered_limit_ends_idle_workers_though_something_waits) {
  FleetDriver driver = registered_fleet(6, sketch({.idle_timeout = 5min}));
  for (const std::string& id : driver.cloud().ids()) ASSERT_TRUE(driver.active(id, 0));
  PoolSketch small = sketch({.idle_timeout = 5min});
  small.max_capacity = 4;
  driver.size = [](const SizeRequest&) { return Result<Size>(Size{0, "enough"}); };
  driver.configure({small});
  driver.demand("p/w", 1);
  driver.advance(10min);
  EXPECT_EQ(driver.pool("p/w").totals.running, 4);
}

// -------------------------------------------------------------------------------------------------
// Quarantine

TEST(Quarantine, takes_a_worker_out_until_its_time_and_replaces_it) {
  FleetDriver driver = registered_fleet(1, sketch({}, 1));
  ASSERT_TRUE(driver.fleet().quarantine(driver.name("cloud-1"), driver.wall() + 1h, "bad disk",
                                        driver.now()));
  driver.settle();
  EXPECT_EQ(driver.worker("cloud-1")->drain, Drain::quarantined);
  EXPECT_THAT(driver.worker("cloud-1")->reason, HasSubstr("bad disk"));
  driver.advance(1min);
  EXPECT_EQ(driver.cloud().launched(), 2u);
  driver.advance(1h);
  EXPECT_EQ(driver.worker("cloud-1")->drain, Drain::none);
}

TEST(Quarantine, ends_when_it_is_released) {
  FleetDriver driver = registered_fleet(1);
  ASSERT_TRUE(
      driver.fleet().quarantine(driver.name("cloud-1"), driver.wall() + 1h, "", driver.now()));
  ASSERT_TRUE(driver.fleet().quarantine(driver.name("cloud-1"), driver.wall(), "", driver.now()));
  EXPECT_EQ(driver.worker("cloud-1")->drain, Drain::none);
}

TEST(Quarantine, is_for_workers_that_run) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 1);
  EXPECT_FALSE(
      driver.fleet().quarantine(driver.name("cloud-1"), driver.wall() + 1h, "", driver.now()));
}

TEST(Quarantine, that_ends_does_not_bring_back_a_worker_that_is_taken_away) {
  FleetDriver driver = registered_fleet(1);
  ASSERT_TRUE(
      driver.fleet().quarantine(driver.name("cloud-1"), driver.wall() + 1min, "", driver.now()));
  ASSERT_TRUE(driver.fleet().interrupt(driver.name("cloud-1"), {driver.wall() + 5min, "spot"},
                                       driver.now()));
  driver.advance(2min);
  EXPECT_EQ(driver.worker("cloud-1")->drain, Drain::interrupted);
}

TEST(Quarantine, of_a_worker_that_is_taken_away_does_not_hide_that) {
  FleetDriver driver = registered_fleet(1);
  ASSERT_TRUE(driver.fleet().interrupt(driver.name("cloud-1"), {driver.wall() + 5min, "spot"},
                                       driver.now()));
  ASSERT_TRUE(
      driver.fleet().quarantine(driver.name("cloud-1"), driver.wall() + 1min, "", driver.now()));
  ASSERT_TRUE(driver.fleet().quarantine(driver.name("cloud-1"), driver.wall(), "", driver.now()));
  EXPECT_EQ(driver.worker("cloud-1")->drain, Drain::interrupted);
}

}  // namespace
}  // namespace muster::fleet
