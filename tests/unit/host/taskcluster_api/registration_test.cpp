#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/codec.hpp>

#include "fixture.hpp"
#include "host/registration/registrar.hpp"
#include "host/store/row.hpp"
#include "tests/support/eventually.hpp"

namespace muster::taskcluster_api {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string secret(44, 's');

struct Registering : ::testing::Test {
  Fixture fixture;

  void SetUp() override {
    ASSERT_EQ(fixture.call("createWorkerPool", {"p/w"}, {.body = fixture.pool_body()}).status, 200);
    ASSERT_EQ(
        fixture.call("createWorker", {"p/w", "g", "m"}, {.body = fixture.machine_body()}).status,
        200);
  }

  json::object body(const std::string& with = secret) const {
    return {{"workerPoolId", "p/w"},
            {"providerId", "rack"},
            {"workerGroup", "g"},
            {"workerId", "m"},
            {"workerIdentityProof", {{"staticSecret", with}}}};
  }

  Reply enter(const json::object& with) {
    return fixture.call("registerWorker", {}, {.body = with, .token = ""});
  }
  Reply renew(const std::string& with, const std::string& token = "root") {
    return fixture.call("reregisterWorker", {},
                        {.body = {{"workerPoolId", "p/w"},
                                  {"workerGroup", "g"},
                                  {"workerId", "m"},
                                  {"secret", with}},
                         .token = token});
  }
};

TEST_F(Registering, what_is_claimed_is_checked_in_its_order_before_the_provider_is_asked) {
  fixture.call("createWorkerPool", {"p/cloudy"}, {.body = fixture.cloud_pool_body()});
  const auto refused = [&](const char* key, const char* value, int status,
                           const std::string& says) {
    json::object wrong = body();
    wrong[key] = value;
    const Reply reply = enter(wrong);
    EXPECT_EQ(reply.status, status) << says;
    EXPECT_THAT(reply.message(), StartsWith(says + "\n"));
  };
  refused("workerPoolId", "p/none", 404, "Worker pool p/none does not exist");
  refused("providerId", "nowhere", 404, "Provider nowhere does not exist");
  refused("providerId", "cloud", 400, "Worker pool p/w not associated with provider cloud");
  refused("workerPoolId", "p/cloudy", 400,
          "Worker pool p/cloudy not associated with provider rack");
  fixture.cloud_runs = false;
  refused("providerId", "cloud", 503, "Provider backend may be down or misconfigured");
  EXPECT_EQ(fixture.identified, 0);
}

TEST_F(Registering, a_wrong_proof_is_refused) {
  const Reply wrong = enter(body(std::string(44, 'x')));
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(wrong.code(), "InputError");
  EXPECT_THAT(wrong.message(), StartsWith("bad staticSecret in workerIdentityProof\n"));
  json::object none = body();
  none["workerIdentityProof"] = json::object();
  EXPECT_EQ(enter(none).code(), "InputValidationError");
  none["workerIdentityProof"] = {{"staticSecret", "short"}};
  EXPECT_EQ(enter(none).code(), "InputValidationError");
  none["workerIdentityProof"] = {{"token", "of another cloud"}};
  EXPECT_THAT(enter(none).message(), StartsWith("missing staticSecret in workerIdentityProof\n"));
}

TEST_F(Registering, a_worker_gets_credentials_for_its_own_work_and_nothing_else) {
  const Reply reply = enter(body());
  ASSERT_EQ(reply.status, 200) << reply.text;
  EXPECT_EQ(reply.at("workerConfig"), json::value({{"idleTimeout", 7}}));
  EXPECT_EQ(reply.at("expires"), json::value(fixture.later(96h)));
  EXPECT_EQ(reply.field("secret").size(), 44u);
  const json::value& credentials = reply.at("credentials");
  EXPECT_EQ(credentials.at("clientId"), json::value("worker/rack/p/w/g/m"));
  const json::object certificate =
      json::parse_object(credentials.at("certificate").as_string()).value();
  EXPECT_EQ(certificate.at("scopes"),
            json::value({"assume:worker-type:p/w", "assume:worker-pool:p/w", "assume:worker-id:g/m",
                         "queue:worker-id:g/m", "secrets:get:worker-type:p/w",
                         "secrets:get:worker-pool:p/w", "queue:claim-work:p/w",
                         "worker-manager:remove-worker:p/w/g/m",
                         "worker-manager:reregister-worker:p/w/g/m",
                         "worker-manager:should-worker-terminate:p/w/g/m"}));
  const auto ms = [&](std::chrono::milliseconds from_now) {
    return json::value((fixture.clock->now() + from_now).time_since_epoch().count());
  };
  EXPECT_EQ(certificate.at("start"), ms(-15min));
  EXPECT_EQ(certificate.at("expiry"), ms(96h));
  EXPECT_EQ(fixture.call("worker", {"p/w", "g", "m"}).at("state"), json::value("running"));
}

TEST_F(Registering, the_trace_of_the_request_reaches_the_provider) {
  const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  ASSERT_EQ(fixture.call("registerWorker", {}, {.body = body(), .token = "", .trace_parent = trace})
                .status,
            200);
  EXPECT_EQ(fixture.last_trace, trace);
}

TEST_F(Registering, what_newer_workers_say_besides_is_ignored) {
  json::object newer = body();
  newer["colour"] = "red";
  newer["systemBootTime"] = fixture.later(-30s);
  EXPECT_EQ(enter(newer).status, 200);
  metrics::Page page;
  fixture.registrar->meters().write(page);
  EXPECT_THAT(page.text(),
              HasSubstr("\nworker_manager_worker_startup_seconds_sum{workerPoolId=\"p/w\","
                        "providerId=\"rack\",workerGroup=\"g\"} 30"));
  EXPECT_THAT(page.text(), HasSubstr("outcome=\"registered\""));
  newer["systemBootTime"] = "yesterday";
  EXPECT_EQ(enter(newer).status, 400);
}

TEST_F(Registering, a_machine_whose_time_is_over_is_refused) {
  fixture.call("updateWorker", {"p/w", "g", "m"}, {.body = {{"expires", fixture.later(1s)}}});
  fixture.advance(2s);
  const Reply reply = enter(body());
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.message(), StartsWith("Worker g/m has expired\n"));
}

TEST_F(Registering, a_provider_in_trouble_is_not_the_workers_fault) {
  fixture.call("createWorkerPool", {"p/cloudy"}, {.body = fixture.cloud_pool_body()});
  json::object wrong = body();
  fixture.identify_cloud = [](const IdentifyRequest&) -> Result<Identity> {
    return Error::transient("the cloud does not answer");
  };
  wrong["workerPoolId"] = "p/cloudy";
  wrong["providerId"] = "cloud";
  EXPECT_EQ(enter(wrong).status, 404);  // nothing was launched there yet
}

// -------------------------------------------------------------------------------------------------
// Renewal

TEST_F(Registering, credentials_are_renewed_with_the_secret_that_was_told_last) {
  const std::string first = enter(body()).field("secret");
  fixture.advance(1h);
  const Reply renewed = renew(first);
  ASSERT_EQ(renewed.status, 200) << renewed.text;
  EXPECT_EQ(renewed.at("expires"), json::value(fixture.later(96h)));
  EXPECT_EQ(renewed.at("workerConfig"), json::value({{"idleTimeout", 7}}));
  const std::string second = renewed.field("secret");
  EXPECT_NE(second, first);
  const std::string third = renew(first).field("secret");  // the answer was lost
  EXPECT_EQ(third.size(), 44u);
  EXPECT_EQ(renew(third).status, 200);
  const Reply old = renew(first);
  EXPECT_EQ(old.status, 400);
  EXPECT_EQ(old.code(), "InputError");
  EXPECT_THAT(old.message(), StartsWith("Could not generate credentials for this secret\n"));
}

TEST_F(Registering, a_worker_of_a_host_that_cannot_store_renews_and_keeps_its_secret) {
  const std::string first = enter(body()).field("secret");
  const auto healthy = [&] { return fixture.fleet->store_health().ok; };
  fixture.store.broken = true;
  fixture.fleet->post([](fleet::Fleet& fleet, fleet::Now now) {
    events::Event event;
    event.kind = "plugin-activated";
    fleet.emit_event(std::move(event), now);
  });
  ASSERT_TRUE(muster::testing::eventually([&] { return !healthy(); }));
  EXPECT_EQ(renew(std::string(44, 'x')).status, 400);
  for (int i = 0; i < 2; ++i) {
    const Reply renewed = renew(first);
    ASSERT_EQ(renewed.status, 200) << renewed.text;
    EXPECT_EQ(renewed.field("secret"), first);
    EXPECT_EQ(renewed.at("expires"), json::value(fixture.later(96h)));
  }
  fixture.store.broken = false;
  ASSERT_TRUE(muster::testing::eventually([&] {
    fixture.clock->advance(1s);
    return healthy();
  }));
  const Reply renewed = renew(first);
  ASSERT_EQ(renewed.status, 200) << renewed.text;
  EXPECT_NE(renewed.field("secret"), first);
}

TEST_F(Registering, nobody_renews_without_having_registered) {
  for (const std::string& with : {secret, std::string(44, '0')}) {
    const Reply reply = renew(with);
    EXPECT_EQ(reply.status, 400);
    EXPECT_THAT(reply.message(), StartsWith("Could not generate credentials for this secret\n"));
  }
  EXPECT_EQ(renew("short").code(), "InputValidationError");
  const Reply unknown = fixture.call("reregisterWorker", {},
                                     {.body = {{"workerPoolId", "p/w"},
                                               {"workerGroup", "g"},
                                               {"workerId", "nobody"},
                                               {"secret", secret}}});
  EXPECT_EQ(unknown.status, 400);
  EXPECT_THAT(unknown.message(), StartsWith("Could not generate credentials for this secret\n"));
}

TEST_F(Registering, a_worker_renews_only_its_own_credentials) {
  const std::string given = enter(body()).field("secret");
  const std::string other = fixture.client({"worker-manager:reregister-worker:p/w/g/other"});
  EXPECT_EQ(renew(given, other).status, 403);
  const std::string own = fixture.client({"worker-manager:reregister-worker:p/w/g/m"});
  EXPECT_EQ(renew(given, own).status, 200);
}

TEST_F(Registering, a_worker_of_a_pool_that_is_gone_is_told_so) {
  const std::string given = enter(body()).field("secret");
  fixture.call("deleteWorkerPool", {"p/w"});
  const Reply finishing = renew(given);
  ASSERT_EQ(finishing.status, 200) << "it may work: " << finishing.text;
  EXPECT_NE(finishing.field("outdated"), "");
  ASSERT_TRUE(fixture.fleet->change<void>([](fleet::Fleet& fleet, fleet::Now now) {
    return fleet.worker_active({WorkerPoolId("p/w"), WorkerGroup("g"), WorkerId("m")}, 0, now);
  }));
  const Reply reply = renew(finishing.field("secret"));
  EXPECT_EQ(reply.status, 410) << reply.text;
  EXPECT_EQ(reply.code(), "ResourceExpired");
  EXPECT_GT(reply.message().find("\n\n---"), 10u);
}

TEST_F(Registering, the_newest_configuration_comes_with_new_credentials) {
  const std::string given = enter(body()).field("secret");
  json::object pool = fixture.pool_body();
  pool["config"] = {{"workerConfig", {{"idleTimeout", 8}}}};
  ASSERT_EQ(fixture.call("updateWorkerPool", {"p/w"}, {.body = pool}).status, 200);
  EXPECT_EQ(renew(given).at("workerConfig"), json::value({{"idleTimeout", 8}}));
}

// -------------------------------------------------------------------------------------------------
// Launched workers, and storms

store::Batch launched_worker(Time now) {
  fleet::LaunchConfigSpec spec;
  spec.provider_id = ProviderId("cloud");
  spec.launch_config = {.launch_config_id = LaunchConfigId("lc-1"),
                        .worker_pool_id = WorkerPoolId("p/cloudy"),
                        .placement = {{{"region", "eu-1"}}},
                        .document = {{"cloud", json::object()}}};
  spec.worker_config = {{"a", 1}};
  fleet::LaunchConfigRow launch{.worker_pool_id = WorkerPoolId("p/cloudy"),
                                .launch_config_id = LaunchConfigId("lc-1"),
                                .provider_id = ProviderId("cloud"),
                                .created = now,
                                .spec = codec::to_value(spec).as_object()};
  fleet::PoolRow pool{.worker_pool_id = WorkerPoolId("p/cloudy"), .spec = {}, .history = {}};
  store::Batch batch{store::put(pool), store::put(launch)};
  for (int i = 1; i <= 3; ++i) {
    fleet::WorkerRow row;
    row.number = i;
    row.worker_pool_id = WorkerPoolId("p/cloudy");
    row.launch_config_id = LaunchConfigId("lc-1");
    row.provider_id = ProviderId("cloud");
    row.worker_group = WorkerGroup("eu-1");
    row.worker_id = WorkerId("i-" + std::to_string(i));
    row.phase = fleet::LaunchPhase::launched;
    row.created = row.since = now;
    batch.push_back(store::put(row));
  }
  return batch;
}

json::object launched_body(const std::string& id, const std::string& token) {
  return {{"workerPoolId", "p/cloudy"},
          {"providerId", "cloud"},
          {"workerGroup", "eu-1"},
          {"workerId", id},
          {"workerIdentityProof", {{"token", token}}}};
}

TEST(RegistrationStorm, failures_of_one_worker_are_limited_and_its_neighbours_go_on) {
  Fixture fixture({launched_worker(FakeClock().now())}, {.of_worker = {3, 0.1}});
  const auto enter = [&](const std::string& id, const std::string& token) {
    return fixture.call("registerWorker", {}, {.body = launched_body(id, token), .token = ""});
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(enter("i-1", "bad").status, 400);
  const int asked = fixture.identified;
  const Reply limited = enter("i-1", "bad");
  EXPECT_EQ(limited.status, 429);
  EXPECT_EQ(limited.header("retry-after"), "10");
  EXPECT_EQ(fixture.identified, asked);
  EXPECT_NE(enter("i-2", "good").status, 429);
  fixture.advance(11s);
  EXPECT_NE(enter("i-1", "good").status, 429);
}

TEST(RegistrationStorm, a_flooding_address_is_turned_away_unread_and_costs_nobody_else) {
  Fixture fixture({launched_worker(FakeClock().now())}, {.of_peer = {5, 1}});
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(fixture
                  .send("POST", std::string(base_path) + "/worker/register",
                        {.token = "", .peer = "203.0.113.9:1"}, "garbage")
                  .status,
              400);
  const Reply limited = fixture.send("POST", std::string(base_path) + "/worker/register",
                                     {.token = "", .peer = "203.0.113.9:2"}, "garbage");
  EXPECT_EQ(limited.status, 429);
  EXPECT_NE(limited.header("retry-after"), "");
  EXPECT_EQ(fixture.identified, 0);
  const Reply other =
      fixture.call("registerWorker", {},
                   {.body = launched_body("i-2", "good"), .token = "", .peer = "203.0.113.10:1"});
  EXPECT_NE(other.status, 429);
}

TEST(RegistrationStorm, a_provider_that_hangs_keeps_only_its_own_workers_waiting) {
  Fixture fixture({launched_worker(FakeClock().now())});
  std::promise<void> release;
  const auto released = release.get_future().share();
  fixture.identify_cloud = [released](const IdentifyRequest&) -> Result<Identity> {
    released.wait_for(20s);
    return Error::transient("the cloud does not answer");
  };
  std::vector<std::future<Reply>> hanging;
  for (int i = 0; i < 8; ++i)
    hanging.push_back(std::async(std::launch::async, [&] {
      return fixture.call("registerWorker", {},
                          {.body = launched_body("i-1", "good"), .token = ""});
    }));
  EXPECT_EQ(fixture.call("createWorkerPool", {"p/w"}, {.body = fixture.pool_body()}).status, 200);
  EXPECT_EQ(
      fixture.call("createWorker", {"p/w", "g", "m"}, {.body = fixture.machine_body()}).status,
      200);
  const Reply other = fixture.call("registerWorker", {},
                                   {.body = {{"workerPoolId", "p/w"},
                                             {"providerId", "rack"},
                                             {"workerGroup", "g"},
                                             {"workerId", "m"},
                                             {"workerIdentityProof", {{"staticSecret", secret}}}},
                                    .token = ""});
  EXPECT_EQ(other.status, 200) << other.text;
  release.set_value();
  for (auto& one : hanging) EXPECT_EQ(one.get().status, 503);
}

}  // namespace
}  // namespace muster::taskcluster_api
