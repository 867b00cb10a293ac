#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.hpp"

namespace muster::taskcluster_api {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct LaunchConfigs : ::testing::Test {
  Fixture fixture;
  std::string id;

  void SetUp() override {
    const Reply made =
        fixture.call("createWorkerPool", {"p/w"}, {.body = fixture.cloud_pool_body()});
    ASSERT_EQ(made.status, 200) << made.text;
    id = std::string(made.at("config")
                         .at("launchConfigs")
                         .as_array()[0]
                         .at("workerManager")
                         .at("launchConfigId")
                         .as_string());
  }
};

TEST_F(LaunchConfigs, one_that_is_not_there_is_not_found) {
  EXPECT_EQ(fixture.call("getLaunchConfig", {"p/w", "lc-none"}).status, 404);
  EXPECT_EQ(fixture.call("getLaunchConfig", {"p/none", id}).status, 404);
  EXPECT_EQ(fixture.call("resumeLaunchConfig", {"p/w", "lc-none"}).status, 404);
  EXPECT_EQ(fixture.call("listWorkerPoolLaunchConfigs", {"p/none"}).status, 404);
}

TEST_F(LaunchConfigs, a_pause_has_an_end) {
  EXPECT_EQ(fixture.call("pauseLaunchConfig", {"p/w", id}, {.body = json::object{}}).status, 400);
  EXPECT_EQ(
      fixture.call("pauseLaunchConfig", {"p/w", id}, {.body = {{"until", "tomorrow"}}}).status,
      400);
  const Reply past =
      fixture.call("pauseLaunchConfig", {"p/w", id}, {.body = {{"until", fixture.later(-1h)}}});
  EXPECT_EQ(past.status, 400);
  EXPECT_EQ(past.code(), "InputError");
}

TEST_F(LaunchConfigs, a_pause_needs_its_own_scope) {
  const std::string token = fixture.client({"worker-manager:get-worker-pool:p/w"});
  EXPECT_EQ(fixture.call("getLaunchConfig", {"p/w", id}, {.token = token}).status, 200);
  EXPECT_EQ(fixture
                .call("pauseLaunchConfig", {"p/w", id},
                      {.body = {{"until", fixture.later(1h)}}, .token = token})
                .status,
            403);
  EXPECT_EQ(fixture.call("resumeLaunchConfig", {"p/w", id}, {.token = token}).status, 403);
}

TEST_F(LaunchConfigs, is_paused_and_resumed) {
  const Reply paused =
      fixture.call("pauseLaunchConfig", {"p/w", id},
                   {.body = {{"until", fixture.later(1h)}, {"reason", "bad image"}}});
  ASSERT_EQ(paused.status, 200) << paused.text;
  EXPECT_EQ(paused.at("status"), json::value("paused"));
  EXPECT_EQ(paused.at("pausedUntil"), json::value(fixture.later(1h)));
  EXPECT_EQ(paused.at("pauseReason"), json::value("bad image"));
  EXPECT_EQ(fixture.call("getLaunchConfig", {"p/w", id}).body, paused.body);
  const Reply resumed = fixture.call("resumeLaunchConfig", {"p/w", id});
  EXPECT_EQ(resumed.at("status"), json::value("active"));
  EXPECT_FALSE(resumed.body.as_object().contains("pausedUntil"));
}

TEST_F(LaunchConfigs, what_is_no_longer_wanted_is_archived) {
  json::object body = fixture.cloud_pool_body();
  body["config"].as_object()["launchConfigs"].as_array()[0].as_object()["image"] = "two";
  ASSERT_EQ(fixture.call("updateWorkerPool", {"p/w"}, {.body = body}).status, 200);
  const Reply active = fixture.call("listWorkerPoolLaunchConfigs", {"p/w"});
  ASSERT_EQ(active.at("workerPoolLaunchConfigs").as_array().size(), 1u);
  const Reply all =
      fixture.call("listWorkerPoolLaunchConfigs", {"p/w"}, {.query = "includeArchived=true"});
  ASSERT_EQ(all.at("workerPoolLaunchConfigs").as_array().size(), 2u);
  EXPECT_EQ(fixture.call("getLaunchConfig", {"p/w", id}).at("isArchived"), json::value(true));
  const Reply pause =
      fixture.call("pauseLaunchConfig", {"p/w", id}, {.body = {{"until", fixture.later(1h)}}});
  EXPECT_EQ(pause.status, 400);
  EXPECT_THAT(pause.message(), HasSubstr("archived"));
}

TEST_F(LaunchConfigs, come_in_pages) {
  json::object body = fixture.cloud_pool_body();
  body["config"].as_object()["launchConfigs"] = {{{"region", "eu-1"}, {"types", {"a", "b", "c"}}}};
  ASSERT_EQ(fixture.call("updateWorkerPool", {"p/w"}, {.body = body}).status, 200);
  const Reply first = fixture.call("listWorkerPoolLaunchConfigs", {"p/w"}, {.query = "limit=2"});
  EXPECT_EQ(first.at("workerPoolLaunchConfigs").as_array().size(), 2u);
  const Reply second =
      fixture.call("listWorkerPoolLaunchConfigs", {"p/w"},
                   {.query = "continuationToken=" + first.field("continuationToken")});
  EXPECT_EQ(second.at("workerPoolLaunchConfigs").as_array().size(), 1u);
  EXPECT_FALSE(second.body.as_object().contains("continuationToken"));
}

}  // namespace
}  // namespace muster::taskcluster_api
