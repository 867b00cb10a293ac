// Pools with keys: a machine that joins has to sign, whatever else its provider requires.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.hpp"
#include "host/queue/queue.hpp"
#include "tests/support/signing_key.hpp"

namespace muster::taskcluster_api {
namespace {

using ssh::SigningKey;
using ::testing::HasSubstr;

struct PoolWithKeys : ::testing::Test {
  Fixture fixture;
  const SigningKey key = SigningKey::ed25519(), stranger = SigningKey::ed25519();

  void SetUp() override {
    for (const char* pool : {"p/w", "p/other"})
      ASSERT_EQ(fixture.call("createWorkerPool", {pool}, {.body = fixture.pool_body()}).status,
                200);
    set_keys("p/w", {key.line()});
  }

  void set_keys(const std::string& pool, const std::vector<std::string>& keys) {
    const auto done = fixture.fleet->change<int>([&](fleet::Fleet& fleet, fleet::Now now) {
      const auto set = fleet.change_queue(now).set_pool(WorkerPoolId(pool), keys, now.wall);
      return set ? Result<int>(0) : Result<int>(set.error());
    });
    ASSERT_TRUE(done) << done.error().message;
  }

  static json::object named(const std::string& pool = "p/w", const std::string& id = "m") {
    return {{"workerPoolId", pool},
            {"providerId", "rack"},
            {"workerGroup", "static"},
            {"workerId", id}};
  }
  std::string challenge(const json::object& of) {
    const Reply made = fixture.send("POST", "/api/muster/v1/registration-challenges", {.token = ""},
                                    json::write(of));
    EXPECT_EQ(made.status, 200) << made.text;
    return made.field("challenge");
  }
  static json::object signed_by(const SigningKey& signer, const std::string& text) {
    return {{"challenge", text}, {"signature", ssh::padded_base64(signer.sign(text))}};
  }
  Reply enter(json::object with, const json::object& proof) {
    with["workerIdentityProof"] = proof;
    return fixture.call("registerWorker", {}, {.body = with, .token = ""});
  }
  Reply enter_with(const SigningKey& signer, const std::string& pool = "p/w") {
    return enter(named(pool), {{"poolKey", signed_by(signer, challenge(named(pool)))}});
  }
};

TEST_F(PoolWithKeys, who_shows_none_is_told_what_to_do) {
  const Reply reply = enter(named(), {{"staticSecret", std::string(44, 's')}});
  EXPECT_EQ(reply.status, 400) << reply.text;
  EXPECT_THAT(reply.message(), HasSubstr("Worker pool p/w requires a key to join"));
  EXPECT_THAT(reply.message(), HasSubstr("/api/muster/v1/registration-challenges"));
  EXPECT_THAT(reply.message(), HasSubstr("poolKeyFile"));
  EXPECT_EQ(fixture.identified, 0);
}

TEST_F(PoolWithKeys, a_wrong_key_or_a_wrong_challenge_opens_nothing) {
  EXPECT_THAT(enter_with(stranger).message(), HasSubstr("is not one of a key of this worker's"));
  const auto refused = [&](const json::value& proof, const std::string& says) {
    const Reply reply = enter(named(), {{"poolKey", proof}});
    EXPECT_EQ(reply.status, 400) << says;
    EXPECT_THAT(reply.message(), HasSubstr(says));
  };
  refused("key", "must be an object");
  refused(json::object(), "poolKey.signature in workerIdentityProof is missing");
  refused({{"signature", "AAAA"}}, "shows no challenge");
  refused({{"challenge", 7}, {"signature", "AAAA"}}, "is not a string");
  refused(signed_by(key, "muster registration challenge"), "is not complete");
  refused(signed_by(key, challenge(named("p/w", "n"))), "was made for another worker");
  refused(signed_by(key, challenge(named("p/other"))), "was made for another worker, pool");
  json::object mixed = signed_by(key, challenge(named()));
  mixed["challenge"] = challenge(named());
  refused(mixed, "is not one of a key of this worker's pool over the challenge");
  EXPECT_EQ(fixture.identified, 0);
}

TEST_F(PoolWithKeys, a_key_of_one_is_useless_in_another) {
  set_keys("p/other", {stranger.line()});
  EXPECT_EQ(enter_with(key, "p/other").status, 400);
  EXPECT_EQ(enter_with(stranger, "p/w").status, 400);
  EXPECT_EQ(fixture.identified, 0);
}

TEST_F(PoolWithKeys, the_right_key_lets_a_machine_in_once_for_each_challenge) {
  const json::object proof{{"poolKey", signed_by(key, challenge(named()))}};
  const Reply in = enter(named(), proof);
  ASSERT_EQ(in.status, 200) << in.text;
  const Reply again = enter(named(), proof);
  EXPECT_EQ(again.status, 400);
  EXPECT_THAT(again.message(), HasSubstr("was used before"));
}

TEST_F(PoolWithKeys, the_key_comes_in_addition_to_what_the_provider_wants_to_see) {
  std::vector<IdentifyRequest> asked;
  fixture.identify_rack = [&](const IdentifyRequest& request) -> Result<Identity> {
    asked.push_back(request);
    if (!request.proof.contains("word")) return Error::auth("the word is missing");
    return Identity{.worker_group = request.worker_group,
                    .worker_id = request.worker_id,
                    .admission = Admission{}};
  };
  EXPECT_THAT(enter_with(key).message(), HasSubstr("the word is missing"));
  json::object proof{{"word", "please"}, {"poolKey", signed_by(key, challenge(named()))}};
  EXPECT_EQ(enter(named(), proof).status, 200);
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_THAT(asked[1].pool_key, HasSubstr("SHA256:"));
  EXPECT_EQ(asked[1].pool_key, asked[0].pool_key);
  set_keys("p/w", {});
  EXPECT_EQ(enter(named(), {{"word", "please"}}).status, 200) << "no keys, as ever";
  EXPECT_EQ(asked[2].pool_key, "");
}

TEST_F(PoolWithKeys, an_old_key_is_useless_as_soon_as_it_is_replaced_and_who_is_in_stays_in) {
  const std::string secret = enter_with(key).field("secret");
  set_keys("p/w", {stranger.line()});
  const Reply renewed = fixture.call("reregisterWorker", {},
                                     {.body = {{"workerPoolId", "p/w"},
                                               {"workerGroup", "static"},
                                               {"workerId", "m"},
                                               {"secret", secret}}});
  EXPECT_EQ(renewed.status, 200) << renewed.text;
  EXPECT_EQ(enter_with(key).status, 400);
  EXPECT_EQ(enter_with(stranger).status, 200);
}

TEST_F(PoolWithKeys, a_key_that_is_replaced_while_the_provider_is_asked_lets_nobody_in) {
  fixture.identify_rack = [&](const IdentifyRequest& request) -> Result<Identity> {
    set_keys("p/w", {stranger.line()});
    return Identity{.worker_group = request.worker_group,
                    .worker_id = request.worker_id,
                    .admission = Admission{}};
  };
  const Reply reply = enter_with(key);
  EXPECT_EQ(reply.status, 503);
  EXPECT_THAT(reply.message(), HasSubstr("try again"));
  EXPECT_EQ(fixture.call("worker", {"p/w", "static", "m"}).status, 404);
}

// Its machines do not know who they are before they are in, and so cannot sign.
TEST_F(PoolWithKeys, a_relays_word_is_no_key) {
  fixture.identify_rack = [](const IdentifyRequest&) -> Result<Identity> {
    return Identity{.worker_group = WorkerGroup("static"),
                    .worker_id = WorkerId("m"),
                    .worker_pool_id = WorkerPoolId("p/w"),
                    .admission = Admission{}};
  };
  const json::object vouched{
      {"providerId", "rack"}, {"hostName", "m.example.com"}, {"address", "198.51.100.7"}};
  const auto vouch = [&] {
    return fixture.send("POST", "/api/muster/v1/relay-registrations",
                        {.token = fixture.client({"muster:relay:rack"})}, json::write(vouched));
  };
  const Reply reply = vouch();
  EXPECT_EQ(reply.status, 400) << reply.text;
  EXPECT_THAT(reply.message(), HasSubstr("which a relay cannot show"));
  set_keys("p/w", {});
  EXPECT_EQ(vouch().status, 200);
}

TEST_F(PoolWithKeys, wrong_keys_count_as_failed_registrations) {
  int refused = 0;
  while (refused < 50 && enter_with(stranger).status == 400) ++refused;
  EXPECT_EQ(refused, 10);
  EXPECT_EQ(enter_with(key).status, 429) << "whatever it shows by now";
}

}  // namespace
}  // namespace muster::taskcluster_api
