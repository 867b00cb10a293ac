// Events: numbered without gaps, durable with what they tell of, complete.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/store/row.hpp"
#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

std::vector<std::string> kinds(const FleetDriver& driver) {
  std::vector<std::string> all;
  for (const events::Event& event : driver.events) all.push_back(event.kind);
  return all;
}

const events::Event* find(const FleetDriver& driver, const std::string& kind) {
  for (const events::Event& event : driver.events)
    if (event.kind == kind) return &event;
  return nullptr;
}

TEST(Telling, a_worker_s_life_is_told_in_order) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 1);
  driver.register_all();
  driver.demand("p/w", 0);
  ASSERT_TRUE(driver.fleet().remove_worker(driver.name("cloud-1"), "enough", driver.now()));
  driver.settle();
  driver.advance(10min);
  EXPECT_THAT(kinds(driver), ElementsAre("worker-pool-created", "launch-configuration-created",
                                         "provider-up", "worker-requested", "worker-launched",
                                         "worker-running", "worker-stopping", "worker-stopped"));
  const events::Event* running = find(driver, "worker-running");
  EXPECT_EQ(running->worker_pool_id.str(), "p/w");
  EXPECT_EQ(running->worker_id.str(), "cloud-1");
  EXPECT_EQ(running->provider_id.str(), "cloud");
  EXPECT_EQ(running->launch_config_id.str(), "lc-1");
  EXPECT_EQ(running->details.at("capacity").as_int64(), 1);
  EXPECT_EQ(find(driver, "worker-stopping")->details.at("reason").as_string(), "enough");
}

TEST(Telling, a_pool_that_is_given_to_nobody_names_who_served_it) {
  FleetDriver driver = simple_fleet();
  PoolSketch sketch{.id = "api/w", .launch_configs = {{"lc-api"}}, .origin = ""};
  ASSERT_TRUE(driver.fleet().put_api_pool(make_spec(sketch), {}, driver.now()));
  driver.settle();
  sketch.launch_configs[0].initial_weight = 0.5;
  driver.events.clear();
  ASSERT_TRUE(driver.fleet().put_api_pool(make_spec(sketch), {}, driver.now()));
  driver.settle();
  EXPECT_THAT(kinds(driver), ElementsAre("worker-pool-updated", "launch-configuration-updated"));
  EXPECT_TRUE(driver.events.front().details.empty());
  auto nobodys = std::make_shared<PoolSpec>(*make_spec(sketch));
  nobodys->providers.clear();
  nobodys->launch_configs.clear();
  driver.events.clear();
  ASSERT_TRUE(driver.fleet().put_api_pool(nobodys, {}, driver.now()));
  driver.settle();
  const events::Event* updated = find(driver, "worker-pool-updated");
  ASSERT_TRUE(updated);
  EXPECT_EQ(updated->provider_id.str(), "null-provider");
  EXPECT_EQ(updated->details.at("previousProviderId").as_string(), "cloud");
}

TEST(Telling, a_change_by_the_api_tells_of_the_pool_and_then_of_what_is_kept_new_and_gone) {
  FleetDriver driver = simple_fleet();
  const auto put = [&](std::vector<LaunchSketch> launch_configs) {
    driver.events.clear();
    EXPECT_TRUE(driver.fleet().put_api_pool(
        make_spec({.id = "api/w", .launch_configs = std::move(launch_configs), .origin = ""}), {},
        driver.now()));
    driver.settle();
  };
  put({{"lc-gone"}, {"lc-kept"}});
  put({{"lc-new"}, {"lc-kept"}});
  EXPECT_THAT(kinds(driver),
              ElementsAre("worker-pool-updated", "launch-configuration-updated",
                          "launch-configuration-created", "launch-configuration-archived"));
  EXPECT_EQ(driver.events.at(1).launch_config_id.str(), "lc-kept");
  put({{"lc-new"}, {"lc-kept"}});
  EXPECT_THAT(kinds(driver), ElementsAre("worker-pool-updated", "launch-configuration-updated",
                                         "launch-configuration-updated"))
      << "as clients of the API know it, though nothing has changed";
}

TEST(Telling, a_pool_of_a_file_tells_of_changes_only) {
  FleetDriver driver = simple_fleet();
  driver.events.clear();
  driver.configure({{.id = "p/w", .launch_configs = {{"lc-1"}}}});
  EXPECT_TRUE(driver.events.empty());
  driver.configure({{.id = "p/w", .launch_configs = {{"lc-1"}, {"lc-2"}}}});
  EXPECT_THAT(kinds(driver), ElementsAre("worker-pool-updated", "launch-configuration-created"));
}

TEST(Telling, a_pool_that_is_gone_still_names_its_provider) {
  FleetDriver driver = simple_fleet();
  driver.configure({});
  const events::Event* removed = find(driver, "worker-pool-removed");
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->provider_id.str(), "cloud");
}

TEST(Telling, numbers_have_no_gaps_and_go_on_after_a_restart) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 3);
  driver.crash();
  driver.start_again();
  driver.register_all();
  std::int64_t expected = 1;
  for (const events::Event& event : driver.events) EXPECT_EQ(event.number, expected++);
  EXPECT_EQ(driver.rows("events"), driver.events.size());
}

TEST(Telling, numbers_go_on_when_all_events_were_erased) {
  Settings settings;
  settings.events_kept = settings.poll = settings.list_every = settings.notices_every = 1h;
  FleetDriver driver(settings);
  driver.provider_up();
  const std::int64_t last = driver.events.back().number;
  driver.advance(48h);
  EXPECT_EQ(driver.rows("events"), 0u);
  driver.crash();
  driver.provider_up("another");
  EXPECT_EQ(driver.events.back().number, last + 1);
}

TEST(Telling, what_happens_outside_gets_its_number_here) {
  FleetDriver driver = simple_fleet();
  events::Event event;
  event.kind = "plugin-activated";
  event.text = "provider/x 2.0.0";
  driver.fleet().emit_event(event, driver.now());
  driver.settle();
  EXPECT_EQ(driver.events.back().kind, "plugin-activated");
  EXPECT_EQ(driver.events.back().number, static_cast<std::int64_t>(driver.events.size()));
  EXPECT_EQ(driver.events.back().at, driver.wall());
}

TEST(Telling, an_error_has_a_name_that_others_can_look_up) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 1);
  driver.register_all();
  const auto row = driver.fleet().report_error(driver.name("cloud-1"), "boot-error", "no disk",
                                               "nothing to boot from", {}, driver.now());
  ASSERT_TRUE(row.has_value());
  driver.settle();
  const events::Event* told = find(driver, "worker-error");
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(told->details.at("errorId").as_string(),
            error_id(driver.fleet().host_id(), row->number));
  EXPECT_EQ(told->details.at("errorKind").as_string(), "boot-error");
  EXPECT_EQ(told->details.at("title").as_string(), "no disk");
}

TEST(Telling, names_of_errors_are_version_4_uuids_in_22_letters) {
  for (std::int64_t number = 1; number < 200; ++number) {
    const std::string id = error_id("host", number);
    ASSERT_EQ(id.size(), 22u);
    EXPECT_NE(id, error_id("host", number + 1));
    EXPECT_NE(id, error_id("other", number));
    EXPECT_NE(std::string("QRST").find(id[8]), std::string::npos) << id;
    EXPECT_NE(std::string("CGKOSWaeimquy26-").find(id[10]), std::string::npos) << id;
    EXPECT_NE(std::string("AQgw").find(id[21]), std::string::npos) << id;
  }
}

TEST(Telling, a_pool_that_changes_its_provider_says_which_it_had) {
  FleetDriver driver = simple_fleet();
  driver.provider_up("other");
  driver.configure({{.id = "p/w", .launch_configs = {{.id = "lc-9", .provider = "other"}}}});
  const events::Event* updated = find(driver, "worker-pool-updated");
  ASSERT_NE(updated, nullptr);
  EXPECT_EQ(updated->provider_id.str(), "other");
  EXPECT_EQ(updated->details.at("previousProviderId").as_string(), "cloud");
}

}  // namespace
}  // namespace muster::fleet
