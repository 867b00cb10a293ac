#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.hpp"
#include "host/store/row.hpp"

namespace muster::taskcluster_api {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Pools, a_pool_of_an_unknown_provider_is_refused) {
  Fixture fixture;
  const Reply reply =
      fixture.call("createWorkerPool", {"p/w"}, {.body = fixture.pool_body("nowhere")});
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.code(), "InputError");
  EXPECT_THAT(reply.message(), StartsWith("Invalid Provider\n"));
}

TEST(Pools, a_provider_that_does_not_run_is_told_as_such) {
  Fixture fixture;
  fixture.cloud_runs = false;
  const Reply reply =
      fixture.call("createWorkerPool", {"p/w"}, {.body = fixture.cloud_pool_body()});
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.code(), "ProviderSetupFailed");
}

TEST(Pools, what_the_provider_does_not_take_is_refused_with_its_place) {
  Fixture fixture;
  json::object body = fixture.cloud_pool_body();
  body["config"].as_object()["launchConfigs"].as_array()[0].as_object()["image"] = 7;
  const Reply reply = fixture.call("createWorkerPool", {"p/w"}, {.body = body});
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.code(), "InputValidationError");
  EXPECT_THAT(reply.message(), HasSubstr("launchConfigs[0]"));
  EXPECT_EQ(fixture.call("workerPool", {"p/w"}).status, 404);
}

TEST(Pools, two_launch_configurations_of_the_same_id_conflict) {
  Fixture fixture;
  json::object body = fixture.cloud_pool_body();
  json::array& list = body["config"].as_object()["launchConfigs"].as_array();
  list.push_back(list[0]);
  EXPECT_EQ(fixture.call("createWorkerPool", {"p/w"}, {.body = body}).status, 409);
  for (json::value& item : list)
    item.as_object()["workerManager"] = json::object{{"launchConfigId", "lc1"}};
  list[1].as_object()["region"] = "us-1";
  const Reply reply = fixture.call("createWorkerPool", {"p/w"}, {.body = body});
  EXPECT_EQ(reply.status, 409);
  EXPECT_THAT(
      reply.message(),
      StartsWith("Launch config with ID `lc1` already exists with different configuration\n"));
  EXPECT_EQ(fixture.call("workerPool", {"p/w"}).status, 404);
}

TEST(Pools, an_owner_is_a_mail_address) {
  Fixture fixture;
  for (const char* owner : {"", "somebody", "a b@example.com", "@example.com", "a@", "a@machine"}) {
    json::object body = fixture.pool_body();
    body["owner"] = owner;
    const Reply reply = fixture.call("createWorkerPool", {"p/w"}, {.body = body});
    EXPECT_EQ(reply.status, 400) << owner;
    EXPECT_EQ(reply.code(), "InputValidationError") << owner;
    EXPECT_THAT(reply.message(), HasSubstr("owner")) << owner;
  }
}

TEST(Pools, a_setting_that_nobody_reads_is_refused_with_the_nearest_name) {
  Fixture fixture;
  json::object body = fixture.cloud_pool_body();
  body["config"].as_object()["maxCapcity"] = 5;
  const Reply reply = fixture.call("createWorkerPool", {"p/w"}, {.body = body});
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.code(), "InputValidationError");
  EXPECT_THAT(reply.message(),
              HasSubstr("config.maxCapcity: is not known; did you mean maxCapacity?"));
}

TEST(Pools, one_that_was_stored_with_such_a_setting_is_there_after_a_start) {
  Fixture before;
  json::object body = before.cloud_pool_body();
  ASSERT_EQ(before.call("createWorkerPool", {"p/w"}, {.body = body}).status, 200);
  // As an earlier version stored it.
  body["config"].as_object()["maxCapcity"] = 5;
  body["config"].as_object().erase("minCapacity");
  body["owner"] = "somebody";
  store::Batch kept{store::put(
      fleet::ApiPoolRow{WorkerPoolId("p/w"), body, before.clock->now(), before.clock->now()})};
  EXPECT_TRUE(store::read_rows<fleet::PoolRow>(
      before.store, [&](const fleet::PoolRow& row) { kept.push_back(store::put(row)); }));
  EXPECT_TRUE(store::read_rows<fleet::LaunchConfigRow>(
      before.store, [&](const fleet::LaunchConfigRow& row) { kept.push_back(store::put(row)); }));
  Fixture after({kept});
  const Reply shown = after.call("workerPool", {"p/w"});
  ASSERT_EQ(shown.status, 200) << shown.text;
  EXPECT_EQ(shown.at("config").at("maxCapcity"), json::value(5));
  EXPECT_EQ(after.call("deleteWorkerPool", {"p/w"}).status, 200);
}

TEST(Pools, making_a_pool_twice_is_making_it_once) {
  Fixture fixture;
  const Reply first =
      fixture.call("createWorkerPool", {"p/w"}, {.body = fixture.cloud_pool_body()});
  ASSERT_EQ(first.status, 200) << first.text;
  // A commit over which the clock is set forward takes an hour, and the disk seems not to answer.
  while (fixture.fleet->committer().waiting() > 0) std::this_thread::yield();
  fixture.advance(std::chrono::hours(1));
  const Reply again =
      fixture.call("createWorkerPool", {"p/w"}, {.body = fixture.cloud_pool_body()});
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(first.at("created"), json::value("2001-09-09T01:46:40.000Z"));
  json::object other = fixture.cloud_pool_body();
  other["description"] = "another one";
  const Reply conflict = fixture.call("createWorkerPool", {"p/w"}, {.body = other});
  EXPECT_EQ(conflict.status, 409);
  EXPECT_EQ(conflict.code(), "RequestConflict");
  EXPECT_THAT(conflict.message(), StartsWith("Worker pool already exists\n"));
}

TEST(Pools, launch_configurations_are_shown_with_their_ids) {
  Fixture fixture;
  const Reply made = fixture.call("createWorkerPool", {"p/w"}, {.body = fixture.cloud_pool_body()});
  const json::value& item = made.at("config").at("launchConfigs").as_array().at(0);
  EXPECT_THAT(std::string(item.at("workerManager").at("launchConfigId").as_string()),
              StartsWith("lc-"));
  EXPECT_EQ(item.at("image"), json::value("one"));
}

TEST(Pools, an_item_that_comes_to_several_launch_configurations_keeps_no_id) {
  Fixture fixture;
  json::object body = fixture.cloud_pool_body();
  json::array& list = body["config"].as_object()["launchConfigs"].as_array();
  list.insert(list.begin(), json::object{{"region", "us-1"}, {"types", {"small", "large"}}});
  const Reply made = fixture.call("createWorkerPool", {"p/w"}, {.body = body});
  ASSERT_EQ(made.status, 200) << made.text;
  const json::array& shown = made.at("config").at("launchConfigs").as_array();
  EXPECT_FALSE(shown[0].as_object().contains("workerManager"));
  EXPECT_TRUE(shown[1].as_object().contains("workerManager"));
  EXPECT_EQ(fixture.call("listWorkerPoolLaunchConfigs", {"p/w"})
                .at("workerPoolLaunchConfigs")
                .as_array()
                .size(),
            3u);
}

TEST(Pools, what_is_shown_can_be_sent_back) {
  Fixture fixture;
  const Reply made = fixture.call("createWorkerPool", {"p/w"}, {.body = fixture.cloud_pool_body()});
  fixture.advance(std::chrono::minutes(5));
  const Reply sent_back = fixture.call("updateWorkerPool", {"p/w"}, {.body = made.body});
  ASSERT_EQ(sent_back.status, 200) << sent_back.text;
  EXPECT_EQ(sent_back.at("config"), made.at("config"));
  EXPECT_EQ(sent_back.at("created"), made.at("created"));
  EXPECT_EQ(sent_back.at("lastModified"), json::value("2001-09-09T01:51:40.000Z"));
  const Reply all =
      fixture.call("listWorkerPoolLaunchConfigs", {"p/w"}, {.query = "includeArchived=true"});
  EXPECT_EQ(all.at("workerPoolLaunchConfigs").as_array().size(), 1u);
}

TEST(Pools, an_update_of_a_pool_that_is_not_there_is_not_found) {
  Fixture fixture;
  EXPECT_EQ(fixture.call("updateWorkerPool", {"p/w"}, {.body = fixture.pool_body()}).status, 404);
}

TEST(Pools, an_update_that_names_another_pool_is_refused) {
  Fixture fixture;
  fixture.call("createWorkerPool", {"p/w"}, {.body = fixture.pool_body()});
  json::object body = fixture.pool_body();
  body["workerPoolId"] = "p/other";
  const Reply reply = fixture.call("updateWorkerPool", {"p/w"}, {.body = body});
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.message(), StartsWith("Incorrect workerPoolId in request body\n"));
}

TEST(Pools, an_id_of_a_launch_configuration_means_the_same_for_ever) {
  Fixture fixture;
  json::object body = fixture.cloud_pool_body();
  json::object& item = body["config"].as_object()["launchConfigs"].as_array()[0].as_object();
  item["workerManager"] = {{"launchConfigId", "mine"}};
  ASSERT_EQ(fixture.call("createWorkerPool", {"p/w"}, {.body = body}).status, 200);
  item["workerManager"] = {{"launchConfigId", "mine"}, {"initialWeight", 0.5}};
  EXPECT_EQ(fixture.call("updateWorkerPool", {"p/w"}, {.body = body}).status, 200);
  item["image"] = "two";
  const Reply reply = fixture.call("updateWorkerPool", {"p/w"}, {.body = body});
  EXPECT_EQ(reply.status, 409);
  EXPECT_THAT(reply.message(), StartsWith("Launch config with ID `mine` already exists with "
                                          "different configuration\n"));
}

TEST(Pools, a_deleted_pool_has_no_provider_and_no_launch_configurations) {
  Fixture fixture;
  EXPECT_EQ(fixture.call("deleteWorkerPool", {"p/w"}).status, 404);
  fixture.call("createWorkerPool", {"p/w"}, {.body = fixture.cloud_pool_body()});
  const std::string token = fixture.client({"worker-manager:manage-worker-pool:p/w"});
  const Reply reply = fixture.call("deleteWorkerPool", {"p/w"}, {.token = token});
  ASSERT_EQ(reply.status, 200) << reply.text;
  EXPECT_EQ(reply.at("providerId"), json::value("null-provider"));
  EXPECT_EQ(reply.at("config").at("launchConfigs"), json::value(json::array()));
  EXPECT_EQ(reply.at("description"), json::value("machines of the lab"));
}

TEST(Pools, a_pool_may_be_given_to_nobody_and_back) {
  Fixture fixture;
  fixture.call("createWorkerPool", {"p/w"}, {.body = fixture.pool_body()});
  fixture.call("createWorker", {"p/w", "g", "m"}, {.body = fixture.machine_body()});
  const Reply ended =
      fixture.call("updateWorkerPool", {"p/w"}, {.body = fixture.pool_body("null-provider")});
  EXPECT_EQ(ended.status, 200) << ended.text;
  EXPECT_EQ(ended.at("providerId"), json::value("null-provider"));
  EXPECT_EQ(
      fixture.call("updateWorkerPool", {"p/w"}, {.body = fixture.pool_body()}).at("providerId"),
      json::value("rack"));
}

// -------------------------------------------------------------------------------------------------
// Pools of files

std::shared_ptr<const fleet::Configuration> configuration_of_files() {
  auto spec = std::make_shared<fleet::PoolSpec>();
  spec->worker_pool_id = WorkerPoolId("worker-manager/build");
  spec->origin = "configs/build.toml";
  spec->owner = "build@example.com";
  spec->description = "builds";
  spec->strategy = "classic";
  spec->settings = {.min_capacity = 1, .max_capacity = 5, .scaling_ratio = 0.5};
  spec->providers = {ProviderId("cloud"), ProviderId("rack")};
  auto launch = std::make_shared<fleet::LaunchConfigSpec>();
  launch->provider_id = ProviderId("cloud");
  launch->launch_config = {
      .launch_config_id = LaunchConfigId("lc-1"),
      .worker_pool_id = spec->worker_pool_id,
      .placement = {{{"region", "eu-1"}, {"availabilityZone", "eu-1a"}}},
      .document = {{"cloud", {{"image", "one"}}}, {"workerConfig", {{"a", 1}}}},
      .capacity_per_instance = 2};
  launch->worker_config = {{"a", 1}};
  spec->launch_configs = {launch};
  auto all = std::make_shared<fleet::Configuration>();
  all->pools[spec->worker_pool_id] = spec;
  return all;
}

TEST(Pools, a_pool_of_a_file_is_shown_and_refuses_changes_with_the_files_name) {
  Fixture fixture;
  fixture.fleet->post(
      [](fleet::Fleet& fleet, fleet::Now now) { fleet.configure(configuration_of_files(), now); });
  fixture.let_run();
  const Reply shown = fixture.call("workerPool", {"worker-manager/build"});
  ASSERT_EQ(shown.status, 200) << shown.text;
  EXPECT_EQ(shown.at("providerId"), json::value("cloud"));
  EXPECT_EQ(shown.at("owner"), json::value("build@example.com"));
  EXPECT_EQ(
      shown.at("config").at("launchConfigs"),
      json::value(
          {{{"region", "eu-1"},
            {"zone", "eu-1a"},
            {"image", "one"},
            {"workerConfig", {{"a", 1}}},
            {"workerManager",
             {{"launchConfigId", "lc-1"}, {"capacityPerInstance", 2}, {"initialWeight", 1}}}}}));
  const json::object body = fixture.cloud_pool_body();
  for (const auto& reply :
       {fixture.call("createWorkerPool", {"worker-manager/build"}, {.body = body}),
        fixture.call("updateWorkerPool", {"worker-manager/build"}, {.body = body}),
        fixture.call("deleteWorkerPool", {"worker-manager/build"})}) {
    EXPECT_EQ(reply.status, 409);
    EXPECT_EQ(reply.code(), "RequestConflict");
    EXPECT_THAT(reply.message(), HasSubstr("configs/build.toml"));
  }
}

// -------------------------------------------------------------------------------------------------
// Lists and numbers

TEST(Pools, a_list_comes_in_pages_that_new_pools_do_not_shift) {
  Fixture fixture;
  for (const char* name : {"p/b", "p/d", "p/a", "p/c"})
    ASSERT_EQ(fixture.call("createWorkerPool", {name}, {.body = fixture.pool_body()}).status, 200);
  const auto names = [](const Reply& reply) {
    std::string all;
    for (const json::value& pool : reply.at("workerPools").as_array())
      all += std::string(pool.at("workerPoolId").as_string()) + " ";
    return all;
  };
  const Reply first = fixture.call("listWorkerPools", {}, {.query = "limit=2"});
  EXPECT_EQ(names(first), "p/a p/b ");
  fixture.call("createWorkerPool", {"p/aa"}, {.body = fixture.pool_body()});
  const Reply second =
      fixture.call("listWorkerPools", {},
                   {.query = "limit=2&continuationToken=" + first.field("continuationToken")});
  EXPECT_EQ(names(second), "p/c p/d ");
  EXPECT_FALSE(second.body.as_object().contains("continuationToken"));
  EXPECT_EQ(names(fixture.call("listWorkerPools", {}, {.query = "limit=99999999999999999999"})),
            "p/a p/aa p/b p/c p/d ");
  EXPECT_EQ(names(fixture.call("listWorkerPools", {}, {.query = "limit=0"})), "");
}

TEST(Pools, workers_are_counted_by_state) {
  Fixture fixture;
  fixture.call("createWorkerPool", {"p/w"}, {.body = fixture.pool_body()});
  json::object two = fixture.machine_body();
  two["capacity"] = 2;
  fixture.call("createWorker", {"p/w", "g", "m1"}, {.body = two});
  fixture.call("createWorker", {"p/w", "g", "m2"}, {.body = fixture.machine_body()});
  fixture.call("removeWorker", {"p/w", "g", "m2"});
  const Reply pool = fixture.call("workerPool", {"p/w"});
  EXPECT_EQ(pool.at("runningCount"), json::value(1));
  EXPECT_EQ(pool.at("runningCapacity"), json::value(2));
  const Reply stats = fixture.call("workerPoolStats", {"p/w"});
  ASSERT_EQ(stats.at("launchConfigStats").as_array().size(), 1u);
  EXPECT_EQ(stats.at("launchConfigStats").as_array()[0].at("runningCapacity"), json::value(2));
  const Reply all = fixture.call("listWorkerPoolsStats");
  ASSERT_EQ(all.at("workerPoolsStats").as_array().size(), 1u);
  EXPECT_EQ(all.at("workerPoolsStats").as_array()[0].at("runningCount"), json::value(1));
  EXPECT_EQ(fixture.call("workerPoolStats", {"p/none"}).status, 404);
}

TEST(Pools, providers_are_listed_in_pages) {
  Fixture fixture;
  const Reply first = fixture.call("listProviders", {}, {.query = "limit=1"});
  EXPECT_EQ(first.at("providers"),
            json::value({{{"providerId", "cloud"}, {"providerType", "provider/cloud"}}}));
  const Reply second =
      fixture.call("listProviders", {},
                   {.query = "limit=1&continuationToken=" + first.field("continuationToken")});
  EXPECT_EQ(second.at("providers"),
            json::value({{{"providerId", "rack"}, {"providerType", "provider/static"}}}));
  EXPECT_FALSE(second.body.as_object().contains("continuationToken"));
  EXPECT_EQ(fixture.call("listProviders", {}, {.query = "continuationToken=77"}).at("providers"),
            json::value(json::array()));
}

}  // namespace
}  // namespace muster::taskcluster_api
