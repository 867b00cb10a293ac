// Challenges as machines ask for them and give them back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/codec.hpp>

#include "fixture.hpp"

namespace muster::taskcluster_api {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const std::string path = "/api/muster/v1/registration-challenges";

json::object names() {
  return {{"workerPoolId", "p/w"}, {"providerId", "rack"}, {"workerGroup", "g"}, {"workerId", "m"}};
}

struct PoolKeys : ::testing::Test {
  Fixture fixture;
  std::vector<IdentifyRequest> asked;

  void SetUp() override {
    ASSERT_EQ(fixture.call("createWorkerPool", {"p/w"}, {.body = fixture.pool_body()}).status, 200);
    ASSERT_EQ(
        fixture.call("createWorker", {"p/w", "g", "m"}, {.body = fixture.machine_body()}).status,
        200);
    fixture.identify_rack = [this](const IdentifyRequest& request) -> Result<Identity> {
      asked.push_back(request);
      if (request.challenge.empty()) return Error::auth("no challenge was signed");
      if (request.proof.at("poolKey").at("signature") != json::value("signed " + request.challenge))
        return Error::auth("bad signature");
      return Identity{request.worker_group, request.worker_id};
    };
  }

  Reply challenge(const json::object& body, const std::string& peer = "192.0.2.1:1") {
    return fixture.send("POST", path, {.token = "", .peer = peer}, json::write(body));
  }
  std::string challenge() { return challenge(names()).field("challenge"); }

  Reply enter(const std::string& text, const std::string& signature) {
    return enter(json::value(text), signature);
  }
  Reply enter(const json::value& text, const std::string& signature) {
    json::object body = names();
    body["workerIdentityProof"] = {{"poolKey", {{"challenge", text}, {"signature", signature}}}};
    return fixture.call("registerWorker", {}, {.body = body, .token = ""});
  }
};

TEST_F(PoolKeys, a_challenge_needs_all_names_and_they_must_be_names) {
  EXPECT_EQ(fixture.send("POST", path, {.token = ""}, "[").status, 400);
  for (const char* name : {"workerPoolId", "providerId", "workerGroup", "workerId"}) {
    json::object body = names();
    body.erase(name);
    EXPECT_THAT(challenge(body).message(), HasSubstr(std::string("`") + name + "` is missing"));
    for (const json::value& wrong : {json::value(""), json::value("a\nb"), json::value(7),
                                     json::value(std::string(300, 'x'))}) {
      body[name] = wrong;
      EXPECT_EQ(challenge(body).status, 400) << name << json::write(wrong);
    }
  }
  json::object more = names();
  more["colour"] = "red";
  EXPECT_THAT(challenge(more).message(), HasSubstr("`colour` is not known"));
}

TEST_F(PoolKeys, a_challenge_tells_nothing_about_what_there_is) {
  json::object body = names();
  body["workerPoolId"] = "no/such";
  body["providerId"] = "nowhere";
  EXPECT_EQ(challenge(body).status, 200);
}

TEST_F(PoolKeys, a_peer_that_asks_wrongly_too_often_waits) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(challenge({{"x", 1}}).status, 400);
  const Reply limited = challenge(names());
  EXPECT_EQ(limited.status, 429);
  EXPECT_NE(limited.header("retry-after"), "");
  EXPECT_EQ(challenge(names(), "192.0.2.2:1").status, 200);
}

TEST_F(PoolKeys, a_provider_sees_only_challenges_that_are_good) {
  json::object other = names();
  other["workerId"] = "n";
  const std::string of_another = challenge(other).field("challenge");
  EXPECT_EQ(enter(of_another, "signed " + of_another).status, 400);
  EXPECT_EQ(enter(std::string("made up"), "signed made up").status, 400);
  EXPECT_EQ(enter(json::value(7), "signed 7").status, 400);
  EXPECT_EQ(enter(std::string(900'000, 'x'), "x").status, 400);
  EXPECT_TRUE(asked.empty());
}

TEST_F(PoolKeys, a_challenge_in_the_wrong_place_is_none) {
  json::object body = names();
  body["workerIdentityProof"] = {{"challenge", challenge()}, {"voucher", {{"by", "me"}}}};
  EXPECT_THAT(enter(std::string(), "").message(), HasSubstr("not complete"));
  EXPECT_EQ(fixture.call("registerWorker", {}, {.body = body, .token = ""}).status, 400);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked.front().challenge, "");
  EXPECT_FALSE(asked.front().voucher) << "nobody vouches for himself";
}

TEST_F(PoolKeys, who_signs_gets_in_once) {
  const std::string text = challenge();
  const Reply in = enter(text, "signed " + text);
  ASSERT_EQ(in.status, 200) << in.text;
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked.front().challenge, text);
  const Reply again = enter(text, "signed " + text);
  EXPECT_EQ(again.status, 400);
  EXPECT_THAT(again.message(), HasSubstr("was used before"));
  EXPECT_EQ(asked.size(), 1u);
}

TEST_F(PoolKeys, a_challenge_whose_signature_was_wrong_is_used_up) {
  const std::string text = challenge();
  EXPECT_EQ(enter(text, "guessed").status, 400);
  EXPECT_THAT(enter(text, "signed " + text).message(), HasSubstr("was used before"));
}

}  // namespace
}  // namespace muster::taskcluster_api
