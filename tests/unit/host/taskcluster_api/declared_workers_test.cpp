// What workers announce to the queue when they register.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.hpp"
#include "host/queue/queue.hpp"

namespace muster::taskcluster_api {
namespace {

using ::testing::HasSubstr;

struct Announcing : ::testing::Test {
  Fixture fixture{
      {}, registration::FailureLimits{.of_worker = {100, 1}}};  // a test makes many mistakes
  std::vector<IdentifyRequest> asked;

  void SetUp() override {
    make_pool("p/w", json::object());
    fixture.identify_rack = [this](const IdentifyRequest& request) -> Result<Identity> {
      asked.push_back(request);
      return Identity{
          .worker_group = WorkerGroup("g"),
          .worker_id = WorkerId("m"),
          .worker_pool_id = request.worker_pool_id.empty() ? WorkerPoolId("p/w") : WorkerPoolId(),
          .admission = Admission{}};
    };
  }

  void make_pool(const std::string& id, const json::object& queue_section) {
    json::object body = fixture.pool_body();
    body["config"] = {{"workerConfig", {{"queue", queue_section}}}};
    const Reply made = fixture.call("createWorkerPool", {id}, {.body = body});
    ASSERT_EQ(made.status, 200) << made.text;
  }
  Reply enter(const json::value& announced, const std::string& pool = "p/w") {
    return fixture.call("registerWorker", {},
                        {.body = {{"workerPoolId", pool},
                                  {"providerId", "rack"},
                                  {"workerGroup", "g"},
                                  {"workerId", "m"},
                                  {"workerIdentityProof", {{"word", "x"}, {"queue", announced}}}},
                         .token = ""});
  }
  // What the queue would hand out.
  queue::Worker offered() {
    queue::Worker found;
    EXPECT_TRUE(fixture.fleet->change<int>([&](fleet::Fleet& fleet, fleet::Now now) {
      for (const queue::Worker& worker : fleet.change_queue(now).workers())
        if (worker.number != 0) found = worker;
      return Result<int>(0);
    }));
    return found;
  }
};

TEST_F(Announcing, what_is_wrong_is_refused_before_anybody_is_asked) {
  const auto refused = [&](const json::value& announced, const std::string& says) {
    const Reply reply = enter(announced);
    EXPECT_EQ(reply.status, 400) << json::write(announced);
    EXPECT_THAT(reply.message(), HasSubstr("queue in workerIdentityProof: " + says));
  };
  refused("gpu", "expected an object");
  refused({{"colour", "red"}}, "there is no `colour`; a worker reports resources, tags and team");
  refused({{"resources", {{"memory", "lots"}}}}, "resources.memory: expected");
  refused({{"resources", {{"memory", 0}}}}, "the resource memory is 0");
  refused({{"resources", {{"", 1}}}}, "the name of a resource");
  refused({{"resources", {{"active-task", 2'000'000'000}}}}, "active-task is at most");
  json::object many;
  for (int i = 0; i < 17; ++i) many["r" + std::to_string(i)] = 1;
  refused({{"resources", many}}, "there are 17 resources");
  refused({{"tags", "gpu"}}, "tags: expected");
  refused({{"tags", {std::string(129, 'x')}}}, "a tag must have");
  refused({{"tags", json::array(17, "x")}}, "there are 17 tags");
  refused({{"team", ""}}, "the name of a team");
  EXPECT_TRUE(asked.empty());
}

TEST_F(Announcing, a_team_is_announced_only_where_the_configuration_allows_it) {
  const Reply reply = enter({{"team", "ios"}});
  EXPECT_EQ(reply.status, 400) << reply.text;
  EXPECT_THAT(reply.message(), HasSubstr("workers of this pool may not report `team`"));
  EXPECT_THAT(reply.message(), HasSubstr("workerConfig.queue.announce"));
  EXPECT_EQ(fixture.call("worker", {"p/w", "g", "m"}).status, 404) << "nothing was done";
  make_pool("p/free", {{"announce", {"team"}}});
  EXPECT_EQ(enter({{"team", "ios"}}, "p/free").status, 200);
  EXPECT_EQ(enter({{"tags", {"gpu"}}}, "p/free").status, 400);
}

TEST_F(Announcing, a_pool_that_is_dedicated_to_teams_takes_no_worker_of_a_team) {
  make_pool("p/mac", {{"announce", {"team"}}});
  ASSERT_TRUE(fixture.fleet->change<int>([](fleet::Fleet& fleet, fleet::Now now) {
    EXPECT_TRUE(fleet.change_queue(now).set_pool(WorkerPoolId("p/mac"), {}, now.wall));
    return Result<int>(0);
  }));
  const Reply reply = enter({{"team", "ios"}}, "p/mac");
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.message(), HasSubstr("is dedicated to teams, so its workers belong to none"));
  EXPECT_EQ(enter(json::object(), "p/mac").status, 200);
}

TEST_F(Announcing, what_was_announced_is_what_the_queue_hands_out_and_no_providers_business) {
  ASSERT_EQ(enter({{"resources", {{"memory", 64}}}, {"tags", {"ssd", "gpu"}}}).status, 200);
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].proof, (json::object{{"word", "x"}}));
  EXPECT_EQ(offered().has, (queue::Resources{1, {{"memory", 64}}}));
  EXPECT_EQ(offered().tags, (std::vector<std::string>{"gpu", "ssd"}));
}

TEST_F(Announcing, a_relay_passes_it_on) {
  const auto vouch = [&](const json::value& announced) {
    return fixture.send("POST", "/api/muster/v1/relay-registrations",
                        {.token = fixture.client({"muster:relay:rack"})},
                        json::write(json::object{{"providerId", "rack"},
                                                 {"hostName", "m.example.com"},
                                                 {"address", "198.51.100.7"},
                                                 {"queue", announced}}));
  };
  EXPECT_THAT(vouch("gpu").message(), HasSubstr("`queue` must be an object"));
  EXPECT_THAT(vouch({{"team", "ios"}}).message(), HasSubstr("may not report `team`"));
  EXPECT_EQ(vouch({{"resources", {{"memory", 64}}}}).status, 200);
  EXPECT_EQ(offered().has.amount_of("memory"), 64);
}

}  // namespace
}  // namespace muster::taskcluster_api
