#include <chrono>
#include <set>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.hpp"

namespace muster::taskcluster_api {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Workers : ::testing::Test {
  Fixture fixture;

  void SetUp() override {
    ASSERT_EQ(fixture.call("createWorkerPool", {"p/w"}, {.body = fixture.pool_body()}).status, 200);
  }

  Reply announce(const std::string& id, const std::string& group = "g") {
    return fixture.call("createWorker", {"p/w", group, id}, {.body = fixture.machine_body()});
  }
};

TEST_F(Workers, a_worker_of_no_pool_is_refused) {
  const Reply reply =
      fixture.call("createWorker", {"p/none", "g", "m"}, {.body = fixture.machine_body()});
  EXPECT_EQ(reply.status, 404);
  EXPECT_THAT(reply.message(), StartsWith("Worker pool p/none does not exist\n"));
}

TEST_F(Workers, a_worker_without_a_future_is_refused) {
  json::object body = fixture.machine_body();
  for (const std::string& past : {fixture.later(-1s), std::string("1970-01-01T00:00:00Z"),
                                  std::string("1066-01-01T00:00:00Z")}) {
    body["expires"] = past;
    const Reply reply = fixture.call("createWorker", {"p/w", "g", "m"}, {.body = body});
    EXPECT_EQ(reply.status, 400) << past;
    EXPECT_THAT(reply.message(), HasSubstr("worker.expires must be in the future"));
  }
  body["expires"] = "soon";
  EXPECT_EQ(fixture.call("createWorker", {"p/w", "g", "m"}, {.body = body}).code(),
            "InputValidationError");
}

TEST_F(Workers, a_worker_without_a_secret_is_refused) {
  const Reply reply =
      fixture.call("createWorker", {"p/w", "g", "m"}, {.body = {{"expires", fixture.later(1h)}}});
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.message(), StartsWith("no worker staticSecret provided\n"));
  EXPECT_EQ(fixture.call("createWorker", {"p/w", "g", "m"}, {.body = fixture.machine_body("short")})
                .code(),
            "InputValidationError");
}

TEST_F(Workers, only_providers_that_launch_nothing_take_announced_workers) {
  fixture.call("createWorkerPool", {"p/cloudy"}, {.body = fixture.cloud_pool_body()});
  for (const char* name : {"createWorker", "updateWorker"}) {
    const Reply reply =
        fixture.call(name, {"p/cloudy", "g", "m"}, {.body = fixture.machine_body()});
    EXPECT_EQ(reply.status, 400);
    EXPECT_THAT(reply.message(), StartsWith("not supported for this provider\n"));
  }
  fixture.cloud_runs = false;
  EXPECT_EQ(
      fixture.call("createWorker", {"p/cloudy", "g", "m"}, {.body = fixture.machine_body()}).code(),
      "ProviderSetupFailed");
}

TEST_F(Workers, announcing_twice_is_announcing_once) {
  const Reply first = announce("m");
  ASSERT_EQ(first.status, 200) << first.text;
  EXPECT_EQ(first.at("state"), json::value("running"));
  EXPECT_EQ(first.at("capacity"), json::value(1));
  EXPECT_EQ(first.at("expires"), json::value(fixture.later(24h)));
  EXPECT_EQ(first.at("providerId"), json::value("rack"));
  EXPECT_EQ(announce("m").body, first.body);
  const Reply conflict = fixture.call("createWorker", {"p/w", "g", "m"},
                                      {.body = fixture.machine_body(std::string(44, 'x'))});
  EXPECT_EQ(conflict.status, 409);
  EXPECT_THAT(conflict.message(), StartsWith("Worker already exists\n"));
}

TEST_F(Workers, a_secret_is_nowhere_to_be_read) {
  announce("m");
  fixture.let_run();
  for (const auto& [table, rows] : fixture.store.inner.contents())
    for (const auto& [key, row] : rows)
      for (const store::Value& value : *row)
        if (const auto* text = std::get_if<std::string>(&value)) {
          EXPECT_EQ(text->find(std::string(44, 's')), std::string::npos) << table;
        }
}

TEST_F(Workers, an_announced_worker_is_changed) {
  EXPECT_EQ(
      fixture.call("updateWorker", {"p/w", "g", "m"}, {.body = fixture.machine_body()}).status,
      404);
  announce("m");
  const Reply changed =
      fixture.call("updateWorker", {"p/w", "g", "m"},
                   {.body = {{"expires", fixture.later(48h)}, {"capacity", 3.0}}});
  ASSERT_EQ(changed.status, 200) << changed.text;
  EXPECT_EQ(changed.at("expires"), json::value(fixture.later(48h)));
  EXPECT_EQ(changed.at("capacity"), json::value(3));
  const Reply huge = fixture.call("updateWorker", {"p/w", "g", "m"},
                                  {.body = {{"expires", fixture.later(48h)}, {"capacity", 1e300}}});
  EXPECT_EQ(huge.status, 200) << huge.text;
}

TEST_F(Workers, a_worker_that_nobody_knows_is_not_found) {
  for (const char* name : {"worker", "removeWorker", "shouldWorkerTerminate"}) {
    const Reply reply = fixture.call(name, {"p/w", "g", "nobody"});
    EXPECT_EQ(reply.status, 404) << name;
    EXPECT_THAT(reply.message(), StartsWith("Worker not found\n")) << name;
  }
  const Reply queue = fixture.call("getWorker", {"p", "w", "g", "nobody"});
  EXPECT_EQ(queue.status, 404);
  EXPECT_THAT(queue.message(),
              StartsWith("Worker with workerId `nobody`, workerGroup `g`,worker-type `w` and "
                         "provisioner `p` not found. Are you sure it was created?"));
}

TEST_F(Workers, a_removed_worker_ends_and_stays_visible) {
  announce("m");
  const Reply removed = fixture.call("removeWorker", {"p/w", "g", "m"});
  EXPECT_EQ(removed.status, 200);
  EXPECT_EQ(removed.text, "{}");
  const std::string state(fixture.call("worker", {"p/w", "g", "m"}).at("state").as_string());
  EXPECT_TRUE(state == "stopping" || state == "stopped") << state;
  EXPECT_EQ(fixture.call("removeWorker", {"p/w", "g", "m"}).status, 200);
  EXPECT_EQ(fixture.call("shouldWorkerTerminate", {"p/w", "g", "m"}).at("terminate"),
            json::value(true));
}

TEST_F(Workers, a_worker_that_is_needed_goes_on) {
  announce("m");
  const Reply advice = fixture.call("shouldWorkerTerminate", {"p/w", "g", "m"});
  ASSERT_EQ(advice.status, 200) << advice.text;
  EXPECT_EQ(advice.at("terminate"), json::value(false));
  EXPECT_NE(advice.field("reason"), "");
}

TEST_F(Workers, a_queue_sees_its_quarantine) {
  announce("m");
  announce("n");
  const fleet::WorkerName name{WorkerPoolId("p/w"), WorkerGroup("g"), WorkerId("m")};
  ASSERT_TRUE(fixture.fleet->change<void>([&](fleet::Fleet& fleet, fleet::Now now) {
    return fleet.quarantine(name, now.wall + 1h, "noisy disk", now);
  }));
  const Reply one = fixture.call("getWorker", {"p", "w", "g", "m"});
  ASSERT_EQ(one.status, 200) << one.text;
  EXPECT_EQ(one.at("quarantineUntil"), json::value(fixture.later(1h)));
  EXPECT_EQ(one.at("recentTasks"), json::value(json::array()));
  const auto ids = [&](const std::string& query) {
    std::set<std::string> all;
    const Reply listed = fixture.call("listWorkers", {"p", "w"}, {.query = query});
    for (const json::value& worker : listed.at("workers").as_array())
      all.insert(std::string(worker.at("workerId").as_string()));
    return all;
  };
  EXPECT_EQ(ids(""), (std::set<std::string>{"m", "n"}));
  EXPECT_EQ(ids("quarantined=true"), (std::set<std::string>{"m"}));
  EXPECT_EQ(ids("quarantined=false"), (std::set<std::string>{"n"}));
  EXPECT_EQ(ids("workerState=requested"), (std::set<std::string>{}));
  EXPECT_EQ(fixture.call("listWorkers", {"p", "none"}).at("workers"), json::value(json::array()));
}

std::vector<std::string> ids_of(const Reply& reply) {
  std::vector<std::string> ids;
  for (const json::value& worker : reply.at("workers").as_array())
    ids.emplace_back(worker.at("workerId").as_string());
  return ids;
}

TEST_F(Workers, are_listed_the_newest_first_in_pages_that_do_not_shift) {
  for (const char* id : {"a", "b", "c", "d"}) ASSERT_EQ(announce(id).status, 200);
  const Reply first = fixture.call("listWorkersForWorkerPool", {"p/w"}, {.query = "limit=2"});
  EXPECT_EQ(ids_of(first), (std::vector<std::string>{"d", "c"}));
  announce("e");
  const Reply second =
      fixture.call("listWorkersForWorkerPool", {"p/w"},
                   {.query = "limit=2&continuationToken=" + first.field("continuationToken")});
  EXPECT_EQ(ids_of(second), (std::vector<std::string>{"b", "a"}));
  EXPECT_FALSE(second.body.as_object().contains("continuationToken"));
}

TEST_F(Workers, are_listed_by_group_state_and_launch_configuration) {
  announce("a", "g1");
  announce("b", "g2");
  fixture.call("removeWorker", {"p/w", "g2", "b"});
  const auto in_pool = [&](const std::string& query) {
    return ids_of(fixture.call("listWorkersForWorkerPool", {"p/w"}, {.query = query}));
  };
  EXPECT_EQ(ids_of(fixture.call("listWorkersForWorkerGroup", {"p/w", "g1"})),
            (std::vector<std::string>{"a"}));
  EXPECT_EQ(ids_of(fixture.call("listWorkersForWorkerGroup", {"p/none", "g1"})),
            (std::vector<std::string>{}));
  EXPECT_EQ(in_pool("").size(), 2u);
  EXPECT_EQ(in_pool("state=running"), (std::vector<std::string>{"a"}));
  EXPECT_EQ(in_pool("state=standalone"), (std::vector<std::string>{}));
  const std::string id(fixture.call("worker", {"p/w", "g1", "a"}).at("launchConfigId").as_string());
  EXPECT_EQ(in_pool("launchConfigId=" + id).size(), 2u);
  EXPECT_EQ(in_pool("launchConfigId=other"), (std::vector<std::string>{}));
  const Reply none = fixture.call("listWorkersForWorkerPool", {"p/none"});
  EXPECT_EQ(none.status, 404);
  EXPECT_THAT(none.message(), StartsWith("Worker Pool does not exist\n"));
}

}  // namespace
}  // namespace muster::taskcluster_api
