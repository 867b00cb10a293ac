// The configuration changes: launch configurations come, go and come back, workers are cycled,
// pools vanish, operators pause.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

LaunchSketch with_image(const std::string& id, const std::string& image) {
  return {.id = id, .document = {{"image", image}}};
}

PoolSketch with(std::vector<LaunchSketch> launch_configs, Lifecycle lifecycle = {}) {
  return {
      .id = "p/w", .launch_configs = std::move(launch_configs), .lifecycle = std::move(lifecycle)};
}

// Workers of lc-1 that run and work.
FleetDriver working_fleet(std::int64_t workers, Lifecycle lifecycle = {}) {
  FleetDriver driver = simple_fleet(with({with_image("lc-1", "one")}, lifecycle));
  driver.demand("p/w", workers);
  driver.demand("p/w", 0);
  driver.register_all();
  for (const std::string& id : driver.cloud().ids()) EXPECT_TRUE(driver.active(id, 1).has_value());
  return driver;
}

std::int64_t outdated(const FleetDriver& driver) {
  return driver.pool("p/w").outdated_draining;
}

// -------------------------------------------------------------------------------------------------
// Launch configurations

TEST(Changes, archive_what_is_gone_keep_what_is_the_same_and_create_the_rest) {
  FleetDriver driver = simple_fleet(with({with_image("lc-1", "one"), with_image("lc-2", "two")}));
  const Time created = driver.launch_config("lc-1")->created;
  driver.advance(1min);
  driver.configure({with({with_image("lc-1", "one"), with_image("lc-3", "three")})});
  EXPECT_EQ(driver.launch_config("lc-1")->status, LaunchConfigStatus::active);
  EXPECT_EQ(driver.launch_config("lc-1")->created, created);
  EXPECT_EQ(driver.launch_config("lc-2")->status, LaunchConfigStatus::archived);
  EXPECT_EQ(driver.launch_config("lc-3")->status, LaunchConfigStatus::active);
  EXPECT_EQ(driver.journal("p/w", "configuration").back().reason,
            "2 launch configurations: 1 new, 1 archived");
}

TEST(Changes,
     an_archived_launch_configuration_is_not_launched_from_and_goes_when_its_workers_have) {
  FleetDriver driver = simple_fleet(with({with_image("lc-1", "one"), with_image("lc-2", "two")}),
                                    {.stopped_kept = std::chrono::minutes(1)});
  driver.configure({with({with_image("lc-2", "two")})});
  driver.demand("p/w", 2);
  EXPECT_EQ(driver.launch_config("lc-1")->totals.used(), 0);
  driver.advance(61min);
  EXPECT_EQ(driver.launch_config("lc-1"), nullptr);
  EXPECT_EQ(driver.rows("launch_configs"), 1u);
}

TEST(Changes, the_same_configuration_again_changes_nothing) {
  FleetDriver driver = working_fleet(2);
  const auto before = driver.rows("decisions");
  driver.configure({with({with_image("lc-1", "one")})});
  driver.advance(1min);
  EXPECT_EQ(driver.rows("decisions"), before);
  EXPECT_EQ(outdated(driver), 0);
}

// -------------------------------------------------------------------------------------------------
// Cycling

TEST(Cycling, only_worker_config_changed_cycles_nobody_and_the_newest_is_given_out) {
  FleetDriver driver = working_fleet(2);
  LaunchSketch changed = with_image("lc-1", "one");
  changed.worker_config = {{"version", 2}};
  driver.configure({with({changed})});
  driver.advance(1min);
  EXPECT_EQ(outdated(driver), 0);
  const auto again = driver.fleet().reregister_worker(driver.name("cloud-1"), driver.secret,
                                                      driver.secret, driver.now());
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->worker_config, (json::object{{"version", 2}}));
}

TEST(Cycling, a_changed_image_makes_workers_outdated_and_they_are_told_gone_and_why) {
  FleetDriver driver = working_fleet(2);
  ASSERT_TRUE(driver.active("cloud-1", 0));
  driver.configure({with({with_image("lc-2", "two")})});
  EXPECT_EQ(outdated(driver), 2);
  for (const auto& told :
       {driver.fleet().reregister_worker(driver.name("cloud-1"), driver.secret, driver.secret,
                                         driver.now()),
        driver.fleet().register_worker(driver.name("cloud-1"), ProviderId("cloud"), driver.secret,
                                       driver.now())}) {
    ASSERT_FALSE(told.has_value());
    EXPECT_EQ(told.error().code, "gone");
    EXPECT_THAT(told.error().message, HasSubstr("`image` of its launch configuration has changed"));
  }
}

TEST(Cycling, an_outdated_worker_ends_no_earlier_than_a_quarter_of_an_hour_after_its_credentials) {
  FleetDriver driver = working_fleet(
      1, {.reregistration_timeout = 4h, .queue_inactivity_timeout = 30min, .idle_timeout = 10min});
  const Time expire = driver.worker("cloud-1")->credentials_expire;
  driver.configure({with({with_image("lc-2", "two")}, {.reregistration_timeout = 4h})});
  ASSERT_TRUE(driver.active("cloud-1", 0));
  driver.advance(expire + 15min - 1s - driver.wall());
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::running);
  driver.advance(10s);
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::stopped);
  EXPECT_TRUE(driver.errors().empty()) << "nobody is to blame";
}

TEST(Cycling, an_outdated_worker_that_asks_is_told_to_end) {
  FleetDriver driver = working_fleet(1);
  driver.configure({with({with_image("lc-2", "two")})});
  EXPECT_TRUE(driver.fleet().should_terminate(driver.name("cloud-1"), driver.now())->terminate);
}

TEST(Cycling, outdated_workers_are_replaced) {
  PoolSketch before = with({with_image("lc-1", "one")}), after = with({with_image("lc-2", "two")});
  before.min_capacity = after.min_capacity = 2;
  FleetDriver driver = simple_fleet(before);
  driver.register_all();
  ASSERT_EQ(driver.pool("p/w").totals.running, 2);
  driver.configure({after});
  driver.advance(1min);
  EXPECT_EQ(driver.launch_config("lc-2")->totals.used(), 2);
}

TEST(Cycling, a_worker_that_boots_from_an_outdated_document_is_ended_at_once) {
  FleetDriver driver = simple_fleet(with({with_image("lc-1", "one")}));
  driver.demand("p/w", 1);
  driver.demand("p/w", 0);
  driver.configure({with({with_image("lc-2", "two")})});
  EXPECT_NE(
      driver.workers(WorkerState::stopping).size() + driver.workers(WorkerState::stopped).size(),
      0u);
  EXPECT_FALSE(driver.register_worker("cloud-1").has_value());
}

TEST(Cycling, with_a_budget_of_one_goes_one_by_one) {
  const Lifecycle slow{.cycling_budget = {.workers = 1}};
  FleetDriver driver = working_fleet(3, slow);
  driver.configure({with({with_image("lc-2", "two")}, slow)});
  driver.advance(10min);
  EXPECT_EQ(outdated(driver), 1);
  for (const char* id : {"cloud-1", "cloud-2", "cloud-3"})
    if (driver.worker(id)->drain == Drain::outdated) driver.cloud().instances.erase(id);
  driver.advance(3min);
  EXPECT_EQ(outdated(driver), 1);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 2u);
}

TEST(Cycling, those_that_are_not_told_yet_may_renew) {
  const Lifecycle slow{.cycling_budget = {.workers = 1}, .finish_tasks = 0s};
  FleetDriver driver = working_fleet(2, slow);
  driver.configure({with({with_image("lc-2", "two")}, slow)});
  int renewed = 0;
  for (const char* id : {"cloud-1", "cloud-2"})
    renewed += driver.fleet()
                   .reregister_worker(driver.name(id), driver.secret, driver.secret, driver.now())
                   .has_value();
  EXPECT_EQ(renewed, 1);
}

TEST(Cycling, idle_workers_are_told_before_those_that_work) {
  const Lifecycle slow{.cycling_budget = {.workers = 1}};
  FleetDriver driver = working_fleet(3, slow);
  ASSERT_TRUE(driver.active("cloud-2", 0));
  driver.configure({with({with_image("lc-2", "two")}, slow)});
  EXPECT_EQ(driver.worker("cloud-2")->drain, Drain::outdated);
}

TEST(Cycling, begins_inside_its_windows_only) {
  FleetDriver driver = working_fleet(2);
  const auto hour = std::chrono::floor<std::chrono::hours>(driver.wall());
  const auto start = hour - std::chrono::floor<std::chrono::days>(hour) + 3h;
  const std::chrono::minutes from =
      std::chrono::duration_cast<std::chrono::minutes>(start) % (24 * 60);
  const Lifecycle nightly{.cycling_windows = {{.weekdays = {}, .from = from, .to = from + 30min}}};
  driver.configure({with({with_image("lc-2", "two")}, nightly)});
  driver.advance(hour + 3h - driver.wall() - 1min);
  EXPECT_EQ(outdated(driver), 0);
  driver.advance(2min);
  EXPECT_EQ(outdated(driver), 2);
}

TEST(Cycling, is_undone_when_the_old_configuration_comes_back) {
  FleetDriver driver = working_fleet(2);
  driver.configure({with({with_image("lc-2", "two")})});
  ASSERT_EQ(outdated(driver), 2);
  driver.configure({with({with_image("lc-1", "one")})});
  EXPECT_EQ(outdated(driver), 0);
  EXPECT_EQ(driver.worker("cloud-1")->drain, Drain::none);
  EXPECT_THAT(driver.worker("cloud-1")->reason, HasSubstr("came back"));
  EXPECT_TRUE(
      driver.fleet()
          .reregister_worker(driver.name("cloud-1"), driver.secret, driver.secret, driver.now())
          .has_value());
  EXPECT_EQ(driver.launch_config("lc-1")->status, LaunchConfigStatus::active);
}

TEST(Cycling, a_behavioural_change_keeps_workers_and_gives_them_the_new_configuration) {
  FleetDriver driver = working_fleet(1);
  driver.provider_up("cloud", {},
                     {.static_fields = {}, .dynamic_fields = {}, .behavioural_fields = {"image"}});
  LaunchSketch changed = with_image("lc-2", "two");
  changed.worker_config = {{"version", 2}};
  driver.configure({with({changed})});
  EXPECT_EQ(outdated(driver), 0);
  const auto again = driver.fleet().reregister_worker(driver.name("cloud-1"), driver.secret,
                                                      driver.secret, driver.now());
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->worker_config, (json::object{{"version", 2}}));
}

TEST(Cycling, a_start_does_not_judge_before_the_provider_said_which_changes_matter) {
  const FieldClasses classes{
      .static_fields = {}, .dynamic_fields = {}, .behavioural_fields = {"image"}};
  FleetDriver driver = working_fleet(1);
  driver.provider_up("cloud", {}, classes);
  driver.configure({with({with_image("lc-2", "two")})});
  driver.demand("p/w", 0);
  driver.crash();
  driver.configure({with({with_image("lc-2", "two")})});
  EXPECT_EQ(outdated(driver), 0);
  driver.provider_up("cloud", {}, classes);
  EXPECT_EQ(outdated(driver), 0);
  driver.provider_up("cloud", {}, {});
  EXPECT_EQ(outdated(driver), 1) << "the plugin changed its mind";
}

TEST(Cycling, what_workers_were_told_before_a_restart_stands) {
  FleetDriver driver = working_fleet(2);
  ASSERT_TRUE(driver.active("cloud-1", 0));
  driver.configure({with({with_image("lc-2", "two")})});
  ASSERT_EQ(outdated(driver), 2);
  driver.crash();
  driver.settle();
  driver.advance(1min);
  EXPECT_EQ(outdated(driver), 2) << "before anything is configured";
  driver.start_again();
  EXPECT_EQ(outdated(driver), 2);
  EXPECT_FALSE(
      driver.fleet()
          .reregister_worker(driver.name("cloud-1"), driver.secret, driver.secret, driver.now())
          .has_value());
}

TEST(Cycling, an_idle_worker_that_ends_as_one_too_many_ends_no_later_for_being_outdated) {
  FleetDriver driver = working_fleet(1, {.idle_timeout = 5min});
  ASSERT_TRUE(driver.active("cloud-1", 0));
  driver.advance(5min + 10s);
  ASSERT_EQ(driver.worker("cloud-1")->drain, Drain::surplus);
  driver.configure({with({with_image("lc-2", "two")})});
  driver.advance(2min);
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::stopped);
}

// -------------------------------------------------------------------------------------------------
// Pools

TEST(Pools, one_that_vanishes_drains_and_leaves_nothing_behind) {
  FleetDriver driver =
      simple_fleet(with({with_image("lc-1", "one")}, {.reregistration_timeout = 1h}),
                   {.stopped_kept = std::chrono::hours(1)});
  driver.demand("p/w", 2);
  driver.register_all();
  ASSERT_TRUE(driver.active("cloud-1", 0));
  driver.configure({});
  ASSERT_EQ(driver.pool("p/w").verdict.kind, verdict::Kind::blocked);
  EXPECT_EQ(driver.pool("p/w").verdict.obstacle->cause, verdict::cause::not_configured);
  EXPECT_EQ(outdated(driver), 2);
  EXPECT_FALSE(
      driver.fleet()
          .reregister_worker(driver.name("cloud-1"), driver.secret, driver.secret, driver.now())
          .has_value());
  driver.advance(76min);
  EXPECT_TRUE(driver.cloud().instances.empty());
  driver.advance(3h);
  EXPECT_EQ(driver.fleet().find_pool(WorkerPoolId("p/w")), nullptr);
  for (const char* table : {"pools", "launch_configs", "workers"})
    EXPECT_EQ(driver.rows(table), 0u) << table;
}

TEST(Pools, one_that_comes_back_goes_on_with_its_workers) {
  FleetDriver driver = working_fleet(2);
  driver.configure({});
  driver.advance(1h);
  driver.configure({with({with_image("lc-1", "one")})});
  EXPECT_EQ(driver.pool("p/w").totals.running, 2);
  EXPECT_EQ(outdated(driver), 0);
}

TEST(Pools, one_that_changes_its_provider_drains_there_and_launches_here) {
  FleetDriver driver = working_fleet(2);
  driver.provider_up("other");
  PoolSketch moved = with({{.id = "lc-o", .provider = "other"}});
  moved.min_capacity = 2;
  driver.configure({moved});
  driver.advance(1min);
  EXPECT_EQ(outdated(driver), 2);
  EXPECT_EQ(driver.cloud("other").launched(), 2u);
  EXPECT_THAT(driver.worker("cloud-1")->reason,
              HasSubstr("nothing is launched any more where it runs"));
}

TEST(ApiPools, have_documents_of_bounded_size_and_a_bounded_number) {
  FleetDriver driver = simple_fleet();
  const auto put = [&](const std::string& id, json::object document) {
    return driver.fleet()
        .put_api_pool(make_spec({.id = id, .launch_configs = {}, .origin = ""}),
                      std::move(document), driver.now())
        .has_value();
  };
  EXPECT_FALSE(put("api/large", {{"x", std::string(1 << 20, 'x')}}));
  int taken = 0;
  for (int i = 0; i < 10'050; ++i) taken += put("api/" + std::to_string(i), {}) ? 1 : 0;
  EXPECT_EQ(taken, 10'000);
  EXPECT_TRUE(put("api/1", {{"changed", true}}));
}

TEST(Pools, of_the_api_are_refused_where_a_file_has_them) {
  FleetDriver driver = simple_fleet();
  const auto refused = driver.fleet().put_api_pool(
      make_spec({.id = "p/w", .launch_configs = {}, .origin = ""}), {}, driver.now());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().error_class, ErrorClass::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("builds.toml"));
  EXPECT_FALSE(driver.fleet().remove_api_pool(WorkerPoolId("p/w"), driver.now()).has_value());
  EXPECT_FALSE(driver.fleet().remove_api_pool(WorkerPoolId("p/none"), driver.now()).has_value());
}

TEST(Pools, of_the_api_live_beside_files_and_over_restarts) {
  FleetDriver driver = simple_fleet();
  const auto spec = make_spec({.id = "api/w", .launch_configs = {{"lc-api"}}, .origin = ""});
  ASSERT_TRUE(driver.fleet().put_api_pool(spec, {{"made", "by hand"}}, driver.now()));
  driver.demand("api/w", 1);
  EXPECT_EQ(driver.cloud().launched(), 1u);
  driver.configure({with({{"lc-1"}})});
  EXPECT_NE(driver.pool("api/w").spec, nullptr) << "a change of files does not concern it";
  driver.crash();
  driver.start_again();
  EXPECT_NE(driver.pool("api/w").spec, nullptr);
  EXPECT_EQ(driver.launch_config("lc-api")->status, LaunchConfigStatus::active);
  ASSERT_TRUE(driver.fleet().remove_api_pool(WorkerPoolId("api/w"), driver.now()));
  driver.settle();
  EXPECT_EQ(driver.pool("api/w").spec, nullptr);
  EXPECT_EQ(driver.rows("api_pools"), 0u);
}

// -------------------------------------------------------------------------------------------------
// Pauses

TEST(Pauses, what_makes_no_sense_is_refused) {
  FleetDriver driver = simple_fleet();
  const auto pause = [&](const char* pool, const char* id, Time until) {
    return driver.fleet().pause(WorkerPoolId(pool), LaunchConfigId(id), until, "", driver.now());
  };
  EXPECT_EQ(pause("p/none", "lc-1", driver.wall() + 1h).error().error_class, ErrorClass::not_found);
  EXPECT_EQ(pause("p/w", "lc-none", driver.wall() + 1h).error().error_class, ErrorClass::not_found);
  EXPECT_EQ(pause("p/w", "lc-1", driver.wall()).error().error_class, ErrorClass::invalid);
  driver.configure({with({with_image("lc-2", "two")})});
  EXPECT_EQ(pause("p/w", "lc-1", driver.wall() + 1h).error().error_class, ErrorClass::invalid);
}

TEST(Pauses, end_by_themselves_at_their_time) {
  FleetDriver driver = simple_fleet();
  ASSERT_TRUE(driver.fleet().pause(WorkerPoolId("p/w"), LaunchConfigId("lc-1"), driver.wall() + 1h,
                                   "maintenance", driver.now()));
  driver.demand("p/w", 1);
  driver.advance(59min);
  EXPECT_EQ(driver.cloud().launched(), 0u);
  EXPECT_THAT(driver.pool("p/w").verdict.text, HasSubstr("maintenance"));
  EXPECT_EQ(driver.pool("p/w").verdict.kind, verdict::Kind::blocked);
  driver.advance(61s);
  EXPECT_EQ(driver.cloud().launched(), 1u);
  EXPECT_EQ(driver.launch_config("lc-1")->status, LaunchConfigStatus::active);
}

TEST(Pauses, survive_a_restart_and_a_change_of_the_configuration) {
  FleetDriver driver = simple_fleet();
  ASSERT_TRUE(driver.fleet().pause(WorkerPoolId("p/w"), LaunchConfigId("lc-1"), driver.wall() + 1h,
                                   "maintenance", driver.now()));
  driver.settle();
  driver.crash();
  driver.start_again();
  driver.demand("p/w", 1);
  EXPECT_EQ(driver.launch_config("lc-1")->status, LaunchConfigStatus::paused);
  driver.configure({with({with_image("lc-2", "two")})});
  driver.configure({{.id = "p/w", .launch_configs = {{"lc-1"}}}});
  EXPECT_EQ(driver.launch_config("lc-1")->status, LaunchConfigStatus::paused);
  driver.advance(61min);
  EXPECT_EQ(driver.launch_config("lc-1")->status, LaunchConfigStatus::active);
}

TEST(Pauses, of_all_launch_configurations_of_a_pool_hold_for_new_ones_too) {
  FleetDriver driver = simple_fleet();
  ASSERT_TRUE(driver.fleet().pause(WorkerPoolId("p/w"), LaunchConfigId("lc-1"), driver.wall() + 1h,
                                   "maintenance", driver.now()));
  driver.configure({with({with_image("lc-2", "two")})});
  EXPECT_EQ(driver.launch_config("lc-2")->status, LaunchConfigStatus::paused);
  EXPECT_EQ(driver.launch_config("lc-2")->pause_reason, "maintenance");
  ASSERT_TRUE(driver.fleet().resume(WorkerPoolId("p/w"), LaunchConfigId("lc-2"), driver.now()));
  driver.configure({with({with_image("lc-3", "three")})});
  EXPECT_EQ(driver.launch_config("lc-3")->status, LaunchConfigStatus::active);
}

TEST(Pauses, of_a_whole_pool_outlive_its_removal_and_those_of_a_part_of_it_do_not_spread) {
  const PoolSketch both = with({with_image("lc-1", "one"), with_image("lc-2", "two")});
  for (const bool whole : {true, false}) {
    FleetDriver driver = simple_fleet(both);
    const auto pause = [&](const char* id, std::chrono::hours time) {
      return driver.fleet().pause(WorkerPoolId("p/w"), LaunchConfigId(id), driver.wall() + time, id,
                                  driver.now());
    };
    ASSERT_TRUE(pause("lc-1", 2h));
    ASSERT_TRUE(!whole || pause("lc-2", 3h));
    driver.configure({});
    driver.configure({with({with_image("lc-1", "one"), with_image("lc-3", "three")})});
    EXPECT_EQ(driver.launch_config("lc-1")->paused_until, driver.wall() + 2h) << "its own";
    EXPECT_EQ(driver.launch_config("lc-3")->status,
              whole ? LaunchConfigStatus::paused : LaunchConfigStatus::active);
    EXPECT_EQ(driver.launch_config("lc-3")->pause_reason, whole ? "lc-2" : "");
  }
}

TEST(Pauses, end_when_an_operator_says_so) {
  FleetDriver driver = simple_fleet();
  ASSERT_TRUE(driver.fleet().pause(WorkerPoolId("p/w"), LaunchConfigId("lc-1"), driver.wall() + 1h,
                                   "", driver.now()));
  driver.demand("p/w", 1);
  ASSERT_TRUE(driver.fleet().resume(WorkerPoolId("p/w"), LaunchConfigId("lc-1"), driver.now()));
  driver.advance(1s);
  EXPECT_EQ(driver.cloud().launched(), 1u);
}

}  // namespace
}  // namespace muster::fleet
