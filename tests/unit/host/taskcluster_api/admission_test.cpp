// Machines that the host does not know and their provider lets in, and those that are not in the
// state that their pool wants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/codec.hpp>

#include "fixture.hpp"
#include "host/store/row.hpp"

namespace muster::taskcluster_api {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

json::object pool_of_macs(const Fixture& fixture, const std::string& os) {
  json::object body = fixture.pool_body();
  body["config"] = {
      {"launchConfigs", {{{"workerConfig", {{"idleTimeout", 7}}}, {"state", {{"os", os}}}}}},
      {"lifecycle", {{"cycling", {{"finishTasks", 0}}}}}};
  return body;
}

struct Joining : ::testing::Test {
  Fixture fixture;
  std::vector<IdentifyRequest> asked;

  void SetUp() override {
    const Reply made =
        fixture.call("createWorkerPool", {"p/w"}, {.body = pool_of_macs(fixture, "14.*")});
    ASSERT_EQ(made.status, 200) << made.text;
    // A machine that knows the word comes in, if its state is right.
    fixture.identify_rack = [this](const IdentifyRequest& request) -> Result<Identity> {
      asked.push_back(request);
      if (request.proof != json::object{{"word", "please"}})
        return Error::auth("the word is another");
      return Identity{.worker_group = request.worker_group,
                      .worker_id = request.worker_id,
                      .claims = {{"provenBy", "word"}},
                      .admission = Admission{.capacity = 3, .provider_data = {{"cameBy", "word"}}}};
    };
  }

  Reply enter(const std::string& word = "please", const std::string& id = "m",
              const std::string& pool = "p/w", const std::string& provider = "rack") {
    return fixture.call("registerWorker", {},
                        {.body = {{"workerPoolId", pool},
                                  {"providerId", provider},
                                  {"workerGroup", "g"},
                                  {"workerId", id},
                                  {"workerIdentityProof", {{"word", word}}}},
                         .token = ""});
  }
  Reply renew(const std::string& secret) {
    return fixture.call("reregisterWorker", {},
                        {.body = {{"workerPoolId", "p/w"},
                                  {"workerGroup", "g"},
                                  {"workerId", "m"},
                                  {"secret", secret}}});
  }
  Reply shown(const std::string& id = "m") { return fixture.call("worker", {"p/w", "g", id}); }
  std::optional<fleet::WorkerRow> row() {
    fixture.let_run();
    std::optional<fleet::WorkerRow> found;
    EXPECT_TRUE(store::read_rows<fleet::WorkerRow>(
        fixture.store, [&](fleet::WorkerRow row) { found = std::move(row); }));
    return found;
  }
};

TEST_F(Joining, a_stranger_whom_the_provider_refuses_is_not_known_and_told_why) {
  const Reply reply = enter("now");
  EXPECT_EQ(reply.status, 404);
  EXPECT_THAT(reply.message(),
              StartsWith("Worker g/m in worker pool p/w does not exist: the word"));
  EXPECT_EQ(shown().status, 404);
  EXPECT_FALSE(row());
}

TEST_F(Joining, a_stranger_needs_an_admission) {
  fixture.identify_rack = [](const IdentifyRequest& request) -> Result<Identity> {
    return Identity{request.worker_group, request.worker_id};
  };
  EXPECT_EQ(enter().status, 404);
}

TEST_F(Joining, a_provider_that_launches_admits_nobody) {
  ASSERT_EQ(
      fixture.call("createWorkerPool", {"p/cloudy"}, {.body = fixture.cloud_pool_body()}).status,
      200);
  fixture.identify_cloud = fixture.identify_rack;
  const Reply reply = enter("please", "m", "p/cloudy", "cloud");
  EXPECT_EQ(reply.status, 404);
  EXPECT_TRUE(asked.empty());
}

TEST_F(Joining, nobody_comes_in_under_the_name_of_another_pools_machine) {
  ASSERT_EQ(fixture.call("createWorkerPool", {"p/other"}, {.body = fixture.pool_body()}).status,
            200);
  ASSERT_EQ(enter().status, 200);
  const Reply reply = enter("please", "m", "p/other");
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.message(), HasSubstr("already, in worker pool p/w"));
}

TEST_F(Joining, who_was_announced_meanwhile_is_not_taken_over) {
  const auto answer = fixture.identify_rack;
  fixture.identify_rack = [&](const IdentifyRequest& request) {
    EXPECT_EQ(
        fixture.call("createWorker", {"p/w", "g", "m"}, {.body = fixture.machine_body()}).status,
        200);
    return answer(request);
  };
  const Reply reply = enter();
  EXPECT_EQ(reply.status, 503);
  EXPECT_THAT(reply.message(), HasSubstr("try again"));
}

TEST_F(Joining, is_one_step_and_durable) {
  const Reply in = enter();
  ASSERT_EQ(in.status, 200) << in.text;
  EXPECT_EQ(in.at("workerConfig"), json::value({{"idleTimeout", 7}}));
  const auto stored = row();
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->origin, fleet::Origin::admission);
  EXPECT_EQ(stored->state, fleet::WorkerState::running);
  EXPECT_NE(stored->secret_digest, "");
  EXPECT_EQ(stored->capacity, 3);
  EXPECT_EQ(shown().field("state"), "running");
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_TRUE(asked[0].provider_data.empty());
  EXPECT_EQ(asked[0].document.at("static").at("state"), json::value({{"os", "14.*"}}));
}

TEST_F(Joining, what_came_of_it_is_what_the_provider_sees_next_time) {
  ASSERT_EQ(enter().status, 200);
  ASSERT_EQ(enter().status, 200);
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[1].provider_data, (json::object{{"cameBy", "word"}}));
  EXPECT_EQ(enter("now").status, 400) << "it is known by now";
}

TEST_F(Joining, renewing_goes_as_for_everybody) {
  const std::string secret = enter().field("secret");
  EXPECT_EQ(renew(secret).status, 200);
}

TEST_F(Joining, a_machine_of_its_owner_that_removes_itself_is_stopped_and_may_come_again) {
  fixture.identify_rack = [](const IdentifyRequest& request) -> Result<Identity> {
    return Identity{request.worker_group, request.worker_id};
  };
  ASSERT_EQ(
      fixture.call("createWorker", {"p/w", "g", "m"}, {.body = fixture.machine_body()}).status,
      200);
  ASSERT_EQ(enter().status, 200);
  const Sha256 digest = sha256("of the worker");
  fixture.authority.put({.client_id = "worker/rack/p/w/g/m",
                         .kind = auth::ClientKind::token,
                         .keys = {{Secret(std::string(digest.begin(), digest.end()))}},
                         .scopes = {"worker-manager:*"}});
  const Options itself{.token = "of the worker"};
  ASSERT_EQ(fixture.call("removeWorker", {"p/w", "g", "m"}, itself).status, 200);
  EXPECT_EQ(shown().field("state"), "stopped");
  EXPECT_EQ(fixture.call("shouldWorkerTerminate", {"p/w", "g", "m"}, itself).at("terminate"),
            json::value(true));
  EXPECT_EQ(enter().status, 200);
  EXPECT_EQ(shown().field("state"), "running");
  ASSERT_EQ(fixture.call("removeWorker", {"p/w", "g", "m"}).status, 200) << "now by its owner";
  EXPECT_EQ(enter().status, 410);
}

// -------------------------------------------------------------------------------------------------
// Conformance

struct Conforming : Joining {
  // The real provider; its machines prove themselves by the secret that their owner told.
  void SetUp() override {
    Joining::SetUp();
    fixture.identify_rack = nullptr;
    ASSERT_EQ(
        fixture.call("createWorker", {"p/w", "g", "m"}, {.body = fixture.machine_body()}).status,
        200);
  }
  Reply report(const std::string& os) {
    return fixture.call(
        "registerWorker", {},
        {.body = {{"workerPoolId", "p/w"},
                  {"providerId", "rack"},
                  {"workerGroup", "g"},
                  {"workerId", "m"},
                  {"workerIdentityProof",
                   {{"staticSecret", std::string(44, 's')}, {"state", {{"os", os}}}}}},
         .token = ""});
  }
  std::string quarantined() {
    return fixture.call("getWorker", {"p", "w", "g", "m"}).field("quarantineUntil");
  }
};

TEST_F(Conforming, a_machine_in_the_wrong_state_is_told_410_and_quarantined_until_it_is_right) {
  const Reply wrong = report("13.1");
  EXPECT_EQ(wrong.status, 410) << wrong.text;
  EXPECT_EQ(wrong.code(), "ResourceExpired");
  EXPECT_THAT(wrong.message(), HasSubstr("not in the state that its pool wants"));
  EXPECT_THAT(quarantined(), StartsWith("9999-"));
  EXPECT_EQ(row()->drain, fleet::Drain::nonconformant);
  EXPECT_EQ(report("14.2").status, 200);
  EXPECT_EQ(quarantined(), "");
  EXPECT_EQ(row()->drain, fleet::Drain::none);
}

TEST_F(Conforming, a_new_state_is_told_at_the_renewal_and_who_has_it_serves_on) {
  const std::string secret = report("14.2").field("secret");
  ASSERT_EQ(
      fixture.call("updateWorkerPool", {"p/w"}, {.body = pool_of_macs(fixture, "15.*")}).status,
      200);
  const Reply told = renew(secret);
  EXPECT_EQ(told.status, 410) << told.text;
  EXPECT_THAT(told.message(), HasSubstr("is outdated"));
  EXPECT_THAT(quarantined(), StartsWith("9999-"));
  EXPECT_EQ(report("14.2").status, 410);
  const Reply fits = report("15.0");
  ASSERT_EQ(fits.status, 200) << fits.text;
  EXPECT_EQ(quarantined(), "");
  EXPECT_EQ(renew(fits.field("secret")).status, 200);
}

}  // namespace
}  // namespace muster::taskcluster_api
