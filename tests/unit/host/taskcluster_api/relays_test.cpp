// Machines that a relay vouches for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/codec.hpp>

#include "fixture.hpp"
#include "host/store/row.hpp"

namespace muster::taskcluster_api {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const std::string relay_path = "/api/muster/v1/relay-registrations";

struct Relayed : ::testing::Test {
  Fixture fixture;
  std::vector<IdentifyRequest> asked;
  std::string relay = fixture.client({"muster:relay:rack"});

  void SetUp() override {
    ASSERT_EQ(fixture.call("createWorkerPool", {"p/w"}, {.body = fixture.pool_body()}).status, 200);
    ASSERT_EQ(
        fixture.call("createWorker", {"p/w", "g", "m"}, {.body = fixture.machine_body()}).status,
        200);
    // It knows one machine.
    fixture.identify_rack = [this](const IdentifyRequest& request) -> Result<Identity> {
      asked.push_back(request);
      if (!request.voucher) return Error::auth("nobody vouches for it");
      if (request.voucher->host_name != "m.example.com")
        return Error::auth("no pool takes " + request.voucher->host_name);
      return Identity{.worker_group = WorkerGroup("g"),
                      .worker_id = WorkerId("m"),
                      .worker_pool_id = WorkerPoolId("p/w")};
    };
  }

  static json::object body() {
    return {{"providerId", "rack"}, {"hostName", "m.example.com"}, {"address", "198.51.100.7"}};
  }
  Reply vouch(const json::object& with, const std::string& token) {
    return fixture.send("POST", relay_path, {.token = token}, json::write(with));
  }
  Reply vouch(const json::object& with) { return vouch(with, relay); }

  std::vector<events::Event> events() {
    fixture.let_run();
    std::vector<events::Event> all;
    EXPECT_TRUE(store::read_rows<events::Event>(fixture.store, [&](const events::Event& event) {
      if (event.kind == "relay-registration") all.push_back(event);
    }));
    return all;
  }
};

TEST_F(Relayed, only_a_relay_of_that_provider_may_ask) {
  EXPECT_EQ(vouch(body(), "").status, 401);
  EXPECT_EQ(vouch(body(), "unknown").status, 401);
  const Reply stranger = vouch(body(), fixture.client({"muster:relay:other", "muster:get:*"}));
  EXPECT_EQ(stranger.status, 403);
  EXPECT_THAT(stranger.message(), HasSubstr("muster:relay:rack"));
  EXPECT_TRUE(asked.empty());
}

TEST_F(Relayed, what_is_said_of_a_machine_is_read_with_care) {
  for (const char* name : {"providerId", "hostName", "address"}) {
    json::object wrong = body();
    wrong.erase(name);
    EXPECT_THAT(vouch(wrong).message(), HasSubstr(std::string("`") + name + "` is missing"));
    for (const json::value& value : {json::value(""), json::value(7), json::value("a b"),
                                     json::value(std::string(300, 'x'))}) {
      wrong[name] = value;
      EXPECT_NE(vouch(wrong).status, 200) << name << json::write(value);
    }
  }
  const auto refused = [&](const char* name, json::value value) {
    json::object wrong = body();
    wrong[name] = std::move(value);
    EXPECT_EQ(vouch(wrong).status, 400) << name;
  };
  refused("address", "198.51.100");
  refused("address", "198.51.100.7:80");
  refused("address", "fe80::1%eth0");
  refused("workerPoolId", "nopool");
  refused("systemBootTime", "yesterday");
  refused("state", json::array{"a"});
  refused("state", json::object{{"os", 14}});
  refused("voucher", json::object{{"by", "root"}});
  EXPECT_EQ(fixture.send("POST", relay_path, {.token = relay}, "garbage").status, 400);
  EXPECT_TRUE(asked.empty());
}

TEST_F(Relayed, the_provider_says_which_worker_it_is) {
  json::object with = body();
  with["state"] = {{"os", "14.5"}};
  const Reply in = vouch(with);
  ASSERT_EQ(in.status, 200) << in.text;
  EXPECT_EQ(in.field("workerPoolId"), "p/w");
  EXPECT_EQ(in.field("workerGroup"), "g");
  EXPECT_EQ(in.field("workerId"), "m");
  EXPECT_EQ(in.field("providerId"), "rack");
  EXPECT_EQ(in.field("secret").size(), 44u);
  EXPECT_EQ(in.at("credentials").at("clientId"), json::value("worker/rack/p/w/g/m"));
  EXPECT_EQ(in.at("workerConfig"), json::value({{"idleTimeout", 7}}));
  ASSERT_EQ(asked.size(), 2u) << "who it is, and then whether that worker may come in";
  EXPECT_EQ(asked[0].worker_id, WorkerId(""));
  EXPECT_EQ(asked[1].worker_id, WorkerId("m"));
  EXPECT_EQ(asked[1].voucher->by, "client-1");
  EXPECT_EQ(asked[1].voucher->address, "198.51.100.7");
  EXPECT_EQ(asked[1].proof, (json::object{{"state", {{"os", "14.5"}}}}));
  EXPECT_TRUE(asked[1].provider_data.contains("staticSecretSha256"));
}

TEST_F(Relayed, a_machine_of_another_pool_than_it_says_is_refused) {
  json::object with = body();
  with["workerPoolId"] = "p/other";
  const Reply reply = vouch(with);
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.message(), HasSubstr("belongs to worker pool p/w"));
  with["workerPoolId"] = "p/w";
  EXPECT_EQ(vouch(with).status, 200);
}

TEST_F(Relayed, a_name_that_no_worker_has_is_the_providers_mistake) {
  fixture.identify_rack = [](const IdentifyRequest&) -> Result<Identity> {
    return Identity{.worker_group = WorkerGroup("g/x"),
                    .worker_id = WorkerId("*"),
                    .worker_pool_id = WorkerPoolId("p/w")};
  };
  EXPECT_EQ(vouch(body()).status, 503);
}

TEST_F(Relayed, a_provider_that_changes_its_mind_is_not_believed) {
  fixture.identify_rack = [](const IdentifyRequest& request) -> Result<Identity> {
    return Identity{.worker_group = WorkerGroup("g"),
                    .worker_id = WorkerId(request.worker_id.empty() ? "m" : "n"),
                    .worker_pool_id = WorkerPoolId("p/w")};
  };
  EXPECT_EQ(vouch(body()).status, 400);
}

TEST_F(Relayed, who_is_gone_is_told_so) {
  fixture.call("deleteWorkerPool", {"p/w"});
  EXPECT_EQ(vouch(body()).status, 410);
}

TEST_F(Relayed, each_answer_is_an_event) {
  json::object wrong = body();
  wrong["hostName"] = "stranger.example.com";
  EXPECT_EQ(vouch(wrong).status, 400);
  EXPECT_EQ(vouch(body()).status, 200);
  const auto told = events();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].details.at("accepted"), false);
  EXPECT_EQ(told[0].details.at("relay"), "client-1");
  EXPECT_EQ(told[0].details.at("hostName"), "stranger.example.com");
  EXPECT_EQ(told[0].details.at("address"), "198.51.100.7");
  EXPECT_EQ(told[0].details.at("reason"), "no pool takes stranger.example.com");
  EXPECT_EQ(told[1].details.at("accepted"), true);
  EXPECT_EQ(told[1].worker_id, WorkerId("m"));
  EXPECT_EQ(told[1].worker_pool_id, WorkerPoolId("p/w"));
}

TEST_F(Relayed, one_machine_that_fails_keeps_no_other_out) {
  json::object bad = body();
  bad["hostName"] = "stranger.example.com";
  bad["address"] = "198.51.100.66";
  for (int i = 0; i < 10; ++i) EXPECT_EQ(vouch(bad).status, 400) << i;
  const std::size_t before = asked.size();
  const Reply limited = vouch(bad);
  EXPECT_EQ(limited.status, 429);
  EXPECT_NE(limited.header("retry-after"), "");
  EXPECT_EQ(asked.size(), before);
  EXPECT_EQ(vouch(body()).status, 200) << "a neighbour";
  fixture.advance(7s);
  EXPECT_EQ(vouch(bad).status, 400);
}

TEST_F(Relayed, a_machine_has_all_addresses_of_its_network) {
  json::object bad = body();
  bad["hostName"] = "stranger.example.com";
  for (int i = 0; i < 10; ++i) {
    bad["address"] = "2001:db8::" + std::to_string(i + 1);
    EXPECT_EQ(vouch(bad).status, 400) << i;
  }
  bad["address"] = "2001:db8:0:0:ffff::1";
  EXPECT_EQ(vouch(bad).status, 429);
  bad["address"] = "2001:db8:1::1";
  EXPECT_EQ(vouch(bad).status, 400);
}

TEST_F(Relayed, what_fails_through_a_relay_costs_nobody_who_comes_directly) {
  json::object bad = body();
  bad["hostName"] = "stranger.example.com";
  bad["address"] = "192.0.2.1";
  for (int i = 0; i < 20; ++i) vouch(bad);
  const Reply direct = fixture.call("registerWorker", {},
                                    {.body = {{"workerPoolId", "p/w"},
                                              {"providerId", "rack"},
                                              {"workerGroup", "g"},
                                              {"workerId", "m"},
                                              {"workerIdentityProof", {{"a", 1}}}},
                                     .token = ""});
  EXPECT_EQ(direct.status, 400);
}

TEST_F(Relayed, an_unknown_provider_and_a_read_only_host_are_told) {
  const std::string other = fixture.client({"muster:relay:nowhere"});
  json::object with = body();
  with["providerId"] = "nowhere";
  EXPECT_EQ(vouch(with, other).status, 404);
}

}  // namespace
}  // namespace muster::taskcluster_api
