// A host that dies anywhere and starts again, a clock that jumps, a store that is old or new.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/store/row.hpp"
#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const auto every_allocation = [](const Question& question) {
  return asks<AskAllocation>(question);
};

FleetDriver running_fleet(std::int64_t workers, Lifecycle lifecycle = {}) {
  FleetDriver driver =
      simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}}, .lifecycle = std::move(lifecycle)});
  driver.demand("p/w", workers);
  driver.demand("p/w", 0);
  driver.register_all();
  return driver;
}

// -------------------------------------------------------------------------------------------------
// Epochs and intents

TEST(Restart, grows_the_epoch) {
  FleetDriver driver = simple_fleet();
  const auto before = driver.fleet().epoch();
  driver.crash();
  EXPECT_GT(driver.fleet().epoch(), before);
  const auto again = driver.fleet().epoch();
  driver.settle();
  driver.crash();
  EXPECT_GT(driver.fleet().epoch(), again) << "also within the same second";
}

TEST(Restart, grows_the_epoch_also_from_an_older_copy_of_the_store) {
  FleetDriver driver = simple_fleet();
  const auto old = std::make_shared<store::MemoryStore>(driver.store().contents());
  std::int64_t newest = 0;
  for (int i = 0; i < 3; ++i) {
    driver.advance(1min);
    driver.crash();
    driver.settle();
    newest = driver.fleet().epoch();
  }
  driver.advance(1min);
  driver.crash_into(old);
  EXPECT_GT(driver.fleet().epoch(), newest);
}

TEST(Restart, keeps_the_name_of_the_host) {
  FleetDriver driver = simple_fleet();
  const auto loaded = Fleet::load(driver.store(), {}, "another name", driver.now());
  EXPECT_EQ((*loaded)->host_id(), "host");
}

TEST(Restart, an_intent_whose_call_went_out_is_found_by_listing_and_not_launched_again) {
  FleetDriver driver = simple_fleet();
  driver.withhold = every_allocation;
  driver.demand("p/w", 3);
  const Question question = driver.take_withheld().at(0);
  ASSERT_TRUE(
      driver.cloud().allocate(std::get<AskAllocation>(question.ask).request, driver.wall()));
  driver.crash();
  driver.withhold = {};
  driver.start_again();
  driver.advance(5min);
  EXPECT_EQ(driver.cloud().launched(), 3u);
  EXPECT_EQ(driver.workers(WorkerState::requested).size(), 3u);
  EXPECT_EQ(driver.cloud().instances.size(), 3u);
}

TEST(Restart, an_intent_whose_call_never_went_out_is_resolved_and_made_anew) {
  FleetDriver driver = simple_fleet();
  driver.withhold = every_allocation;
  driver.demand("p/w", 3);
  driver.crash();
  driver.withhold = {};
  driver.start_again();
  driver.advance(5min);
  EXPECT_EQ(driver.workers(WorkerState::stopped).size(), 3u);
  EXPECT_EQ(driver.cloud().launched(), 3u);
}

TEST(Restart, a_launch_of_the_old_host_that_arrives_late_is_ended) {
  FleetDriver driver = simple_fleet();
  driver.withhold = every_allocation;
  driver.demand("p/w", 1);
  const Question late = driver.take_withheld().at(0);
  driver.crash();
  driver.withhold = {};
  driver.start_again();
  driver.advance(5min);
  ASSERT_EQ(driver.cloud().launched(), 1u);
  ASSERT_TRUE(driver.cloud().allocate(std::get<AskAllocation>(late.ask).request, driver.wall()));
  ASSERT_EQ(driver.cloud().instances.size(), 2u);
  driver.advance(5min);
  EXPECT_EQ(driver.cloud().instances.size(), 1u);
}

TEST(Restart, at_every_write_launches_nothing_twice_and_loses_nothing) {
  for (int steps = 1; steps < 14; ++steps) {
    FleetDriver driver = simple_fleet();
    int left = steps;
    driver.withhold = [&](const Question&) { return left-- <= 0; };
    driver.demand("p/w", 4);
    driver.withhold = {};
    driver.crash();
    driver.start_again();
    driver.advance(10min);
    driver.demand("p/w", 0);
    driver.register_all();
    EXPECT_EQ(driver.cloud().instances.size(), 4u) << "crash after " << steps << " answers";
    EXPECT_EQ(driver.pool("p/w").totals.running, 4);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Restart, goes_on_with_the_pools_of_before_while_no_configuration_can_be_read) {
  FleetDriver driver = simple_fleet();
  driver.crash();
  driver.provider_up();
  driver.demand("p/w", 2);
  driver.advance(1min);
  EXPECT_EQ(driver.cloud().launched(), 2u);
}

TEST(Restart, goes_on_with_a_termination_that_was_asked_for) {
  FleetDriver driver = running_fleet(1);
  driver.withhold = [](const Question& question) { return asks<AskTermination>(question); };
  ASSERT_TRUE(driver.fleet().remove_worker(driver.name("cloud-1"), "test", driver.now()));
  driver.settle();
  driver.crash();
  driver.withhold = {};
  driver.start_again();
  driver.advance(3min);
  EXPECT_TRUE(driver.cloud().instances.empty());
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::stopped);
}

// -------------------------------------------------------------------------------------------------
// Grace

TEST(Grace, after_a_start_nobody_is_stopped_because_of_time) {
  FleetDriver driver = running_fleet(2, {.registration_timeout = 20min,
                                         .reregistration_timeout = 2h,
                                         .queue_inactivity_timeout = 1h,
                                         .idle_timeout = 5min});
  ASSERT_TRUE(driver.active("cloud-1", 0));
  driver.demand("p/w", 3);
  driver.demand("p/w", 0);
  driver.crash();
  driver.jump_clock(24h);  // the host was down for a day
  driver.crash();
  driver.start_again();
  driver.advance(9min);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 2u);
  EXPECT_EQ(driver.workers(WorkerState::requested).size(), 2u);
  EXPECT_EQ(driver.pool("p/w").totals.draining, 0);
  driver.advance(1h - 1min);
  EXPECT_EQ(driver.worker("cloud-2")->state, WorkerState::running) << "the day is not its silence";
  driver.advance(5min);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 0u);
}

TEST(Grace, after_a_start_no_worker_that_asks_is_told_to_end_before_the_demand_is_known) {
  FleetDriver driver = running_fleet(1);
  driver.crash();
  driver.start_again();
  EXPECT_FALSE(driver.fleet().should_terminate(driver.name("cloud-1"), driver.now())->terminate);
  driver.advance(11min);
  EXPECT_TRUE(driver.fleet().should_terminate(driver.name("cloud-1"), driver.now())->terminate);
}

TEST(Grace, after_a_start_a_worker_that_drained_is_not_ended_before_it_could_say_that_it_works) {
  FleetDriver driver = running_fleet(1, {.idle_timeout = 5min});
  ASSERT_TRUE(driver.active("cloud-1", 0));
  driver.advance(5min + 5s);
  ASSERT_EQ(driver.worker("cloud-1")->drain, Drain::surplus);
  driver.crash();
  driver.start_again();
  driver.advance(5min);
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::running);
}

TEST(Grace, after_a_clock_jump_nobody_is_stopped_because_of_time) {
  FleetDriver driver =
      running_fleet(2, {.reregistration_timeout = 2h, .queue_inactivity_timeout = 1h});
  driver.jump_clock(24h * 30);
  driver.advance(9min);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 2u);
  for (const char* id : {"cloud-1", "cloud-2"})
    EXPECT_TRUE(driver.fleet()
                    .reregister_worker(driver.name(id), driver.secret, driver.secret, driver.now())
                    .has_value());
  driver.advance(30min);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 2u);
}

TEST(Grace, a_clock_that_was_ahead_and_is_set_right_leaves_nothing_waiting_for_it) {
  FleetDriver driver = simple_fleet();
  driver.jump_clock(24h * 365);
  driver.cloud().refuses = [](const LaunchConfig&) { return Error::quota("quota"); };
  driver.demand("p/w", 1);
  driver.cloud().refuses = {};
  ASSERT_EQ(driver.fleet().holds().size(), 1u);
  driver.jump_clock(-24h * 365);
  driver.advance(15min);
  EXPECT_EQ(driver.cloud().launched(), 1u) << "the hold was for ten minutes";
  driver.register_all();
  EXPECT_EQ(driver.pool("p/w").totals.running, 1);
}

TEST(Grace, credentials_of_a_clock_that_was_ahead_do_not_last_for_years) {
  FleetDriver driver = running_fleet(1, {.reregistration_timeout = 1h});
  ASSERT_TRUE(driver.active("cloud-1", 1));
  driver.jump_clock(24h * 365);
  ASSERT_TRUE(driver.fleet().reregister_worker(driver.name("cloud-1"), driver.secret, driver.secret,
                                               driver.now()));
  driver.jump_clock(-24h * 365);
  driver.advance(2h);
  EXPECT_NE(driver.worker("cloud-1")->state, WorkerState::running);
}

TEST(Grace, a_clock_that_was_set_back_while_the_host_was_down_stops_nothing_for_ever) {
  FleetDriver driver = simple_fleet();
  driver.withhold = every_allocation;
  driver.demand("p/w", 1);
  driver.crash();
  driver.withhold = {};
  driver.jump_clock(-24h * 30);
  driver.crash();
  driver.start_again();
  driver.advance(5min);
  EXPECT_EQ(driver.cloud().launched(), 1u);
  EXPECT_EQ(driver.workers(WorkerState::stopped).size(), 1u) << "the intent of before is resolved";
}

// -------------------------------------------------------------------------------------------------
// The whole state

std::string digest_of(const store::Batch& rows) {
  store::MemoryStore store;
  EXPECT_TRUE(store.commit(rows).has_value());
  return store.digest();
}

// All that a restart has to keep, in all states.
FleetDriver rich_fleet() {
  FleetDriver driver = simple_fleet(
      {.id = "p/w",
       .launch_configs = {{.id = "lc-1"}, {.id = "lc-2", .zone = "b", .max_capacity = 2}},
       .lifecycle = {.warm_capacity = 1,
                     .cycling_budget = {.workers = 2},
                     .cycling_windows = {{.weekdays = {1, 2}}}}});
  driver.demand("p/w", 6);
  driver.register_all();
  EXPECT_TRUE(driver.active("cloud-1", 1).has_value());
  EXPECT_TRUE(
      driver.fleet().remove_worker(driver.name("cloud-2"), "test", driver.now()).has_value());
  EXPECT_TRUE(driver.fleet()
                  .interrupt(driver.name("cloud-3"), {driver.wall() + 1h, "spot"}, driver.now())
                  .has_value());
  EXPECT_TRUE(driver.fleet()
                  .quarantine(driver.name("cloud-4"), driver.wall() + 1h, "disk", driver.now())
                  .has_value());
  driver.cloud().refuses = [](const LaunchConfig&) { return Error::quota("quota").in_zone("z"); };
  driver.demand("p/w", 20);
  EXPECT_TRUE(
      driver.fleet()
          .put_api_pool(make_spec({.id = "api/w", .launch_configs = {{"lc-api"}}, .origin = ""}),
                        {{"made", "by hand"}}, driver.now())
          .has_value());
  EXPECT_TRUE(driver.fleet()
                  .pause(WorkerPoolId("api/w"), LaunchConfigId("lc-api"), driver.wall() + 1h, "why",
                         driver.now())
                  .has_value());
  driver.settle();
  driver.advance(1min);
  return driver;
}

TEST(Everything, is_what_the_store_has) {
  FleetDriver driver = rich_fleet();
  store::MemoryStore::Contents kept = driver.store().contents();
  kept.erase("decisions");
  kept.erase("pool_errors");
  kept.erase("events");
  kept["host"].erase({store::Value("nextEvent")});  // written when events are erased; else counted
  store::MemoryStore fresh;
  ASSERT_TRUE(fresh.commit(driver.fleet().everything()));
  store::MemoryStore::Contents all = fresh.contents();
  all["host"].erase({store::Value("nextEvent")});
  for (const auto& [table, rows] : kept) {
    if (rows.empty()) continue;
    const auto& written = all[table];
    EXPECT_EQ(written.size(), rows.size()) << table;
    for (const auto& [key, row] : rows) {
      ASSERT_TRUE(written.contains(key)) << table;
      EXPECT_EQ(*written.at(key), *row) << table;
    }
  }
}

TEST(Everything, written_into_a_fresh_store_and_loaded_is_the_same_state) {
  FleetDriver driver = rich_fleet();
  store::MemoryStore fresh;
  ASSERT_TRUE(fresh.commit(driver.fleet().everything()));
  const auto loaded = Fleet::load(fresh, {}, "host", driver.now());
  ASSERT_TRUE(loaded.has_value());
  store::Batch before = driver.fleet().everything(), after = (*loaded)->everything();
  for (store::Batch* batch : {&before, &after})  // the epoch grows
    std::erase_if(*batch, [](const store::Change& change) {
      const auto* put = std::get_if<store::Put>(&change);
      return put && put->table->name == "host";
    });
  EXPECT_EQ(digest_of(before), digest_of(after));
  EXPECT_EQ((*loaded)->check_sums(), "");
  Totals totals = (*loaded)->find_pool(WorkerPoolId("p/w"))->totals;
  EXPECT_EQ(std::exchange(totals.unconfirmed, 0), 5) << "nobody has listed them or heard of them";
  EXPECT_EQ(totals, driver.pool("p/w").totals);
}

TEST(Everything, the_same_inputs_give_the_same_bytes) {
  EXPECT_EQ(rich_fleet().store().digest(), rich_fleet().store().digest());
}

}  // namespace
}  // namespace muster::fleet
