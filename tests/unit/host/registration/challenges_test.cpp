#include "host/registration/challenges.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/codec.hpp>

#include "tests/unit/host/taskcluster_api/fixture.hpp"

namespace muster::taskcluster_api {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const Claim claim{{WorkerPoolId("p/w"), WorkerGroup("g"), WorkerId("m")}, ProviderId("rack")};

struct Challenged : ::testing::Test {
  FakeClock clock;
  Challenges challenges{"https://muster.example.com"};

  std::string make() const { return challenges.make(claim, clock.now()).text; }
  // What is wrong with it; empty: it was taken.
  std::string take(std::string_view text, const Claim& by = claim) {
    const auto taken = challenges.take(text, by, clock.now());
    return taken ? "" : taken.error().message;
  }
};

TEST_F(Challenged, what_is_none_is_not_taken) {
  for (const char* text : {"", "x", "\n", "\ncode: ", "\nnonce: \ncode: ", "\ncode: x\nnonce: y"})
    EXPECT_NE(take(text), "") << text;
  EXPECT_THAT(take(std::string(1 << 20, 'x')), HasSubstr("too long"));
  EXPECT_THAT(take(make() + std::string(1 << 20, '\n')), HasSubstr("too long"));
}

TEST_F(Challenged, a_text_that_was_changed_anywhere_is_not_taken) {
  const std::string good = make();
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string changed = good;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    EXPECT_NE(take(changed), "") << at;
    EXPECT_NE(take(good.substr(0, at)), "") << at;
  }
  EXPECT_NE(take(good + "\n"), "");
  EXPECT_NE(take(" " + good), "");
  EXPECT_EQ(take(good), "") << "none of those has used it up";
}

TEST_F(Challenged, it_is_for_one_worker_of_one_pool_at_one_provider) {
  Claim other = claim;
  other.name.worker_pool_id = WorkerPoolId("p/x");
  EXPECT_THAT(take(make(), other), HasSubstr("for another worker"));
  other = claim;
  other.name.worker_group = WorkerGroup("h");
  EXPECT_THAT(take(make(), other), HasSubstr("for another worker"));
  other = claim;
  other.name.worker_id = WorkerId("m2");
  EXPECT_THAT(take(make(), other), HasSubstr("for another worker"));
  other.name.worker_id = WorkerId("");
  EXPECT_THAT(take(make(), other), HasSubstr("for another worker"));
  other = claim;
  other.provider = ProviderId("cloud");
  EXPECT_THAT(take(make(), other), HasSubstr("for another worker"));
}

TEST_F(Challenged, the_beginning_of_a_name_is_another_name) {
  Claim longer = claim;
  longer.name.worker_id = WorkerId("m2");
  const std::string text = challenges.make(longer, clock.now()).text;
  EXPECT_THAT(take(text, claim), HasSubstr("for another worker"));
}

TEST_F(Challenged, it_names_everything_and_no_two_are_equal) {
  const Challenge made = challenges.make(claim, clock.now());
  for (const char* part : {"host: https://muster.example.com\n", "workerPoolId: p/w\n",
                           "workerGroup: g\n", "workerId: m\n", "providerId: rack\n", "nonce: "})
    EXPECT_THAT(made.text, HasSubstr(part));
  EXPECT_THAT(made.text, HasSubstr("expires: " + format_time(made.expires) + "\n"));
  EXPECT_EQ(made.expires, clock.now() + 2min);
  EXPECT_NE(make(), make());
}

TEST_F(Challenged, it_expires) {
  const std::string text = make();
  clock.advance(2min);
  EXPECT_THAT(take(text), HasSubstr("has expired"));
  const std::string other = make();
  clock.advance(2min - 1ms);
  EXPECT_EQ(take(other), "");
}

TEST_F(Challenged, it_is_taken_once) {
  const std::string text = make();
  EXPECT_EQ(take(text), "");
  EXPECT_THAT(take(text), HasSubstr("was used before"));
  clock.advance(1min);
  EXPECT_THAT(take(text), HasSubstr("was used before"));
}

TEST_F(Challenged, what_an_earlier_process_made_is_not_taken) {
  const Challenges before("https://muster.example.com");
  EXPECT_THAT(take(before.make(claim, clock.now()).text), HasSubstr("since it started"));
}

TEST_F(Challenged, more_than_can_be_remembered_are_still_taken_once) {
  Challenges few("https://muster.example.com", 3);
  std::vector<std::string> texts;
  for (int i = 0; i < 10; ++i) {
    texts.push_back(few.make(claim, clock.now()).text);
    clock.advance(1s);
    EXPECT_TRUE(few.take(texts.back(), claim, clock.now())) << i;
  }
  for (const std::string& text : texts) EXPECT_FALSE(few.take(text, claim, clock.now()));
}

TEST_F(Challenged, a_clock_that_is_set_back_brings_none_back) {
  const std::string text = make();
  const Time before = clock.now();
  EXPECT_EQ(take(text), "");
  clock.advance(10min);
  EXPECT_EQ(take(make()), "");  // the old one is forgotten with this
  EXPECT_FALSE(challenges.take(text, claim, before));
}

// -------------------------------------------------------------------------------------------------
// Through the API

const std::string path = "/api/muster/v1/registration-challenges";

json::object names() {
  return {{"workerPoolId", "p/w"}, {"providerId", "rack"}, {"workerGroup", "g"}, {"workerId", "m"}};
}

struct PoolKeys : ::testing::Test {
  Fixture scene;
  std::vector<IdentifyRequest> asked;

  void SetUp() override {
    ASSERT_EQ(scene.call("createWorkerPool", {"p/w"}, {.body = scene.pool_body()}).status, 200);
    ASSERT_EQ(scene.call("createWorker", {"p/w", "g", "m"}, {.body = scene.machine_body()}).status,
              200);
    scene.identify_rack = [this](const IdentifyRequest& request) -> Result<Identity> {
      asked.push_back(request);
      if (request.challenge.empty()) return Error::auth("no challenge was signed");
      if (request.proof.at("poolKey").at("signature") != json::value("signed " + request.challenge))
        return Error::auth("bad signature");
      return Identity{request.worker_group, request.worker_id};
    };
  }

  Reply challenge(const json::object& body, const std::string& peer = "192.0.2.1:1") {
    return scene.send("POST", path, {.token = "", .peer = peer}, json::write(body));
  }
  std::string challenge() { return challenge(names()).field("challenge"); }

  Reply enter(const std::string& text, const std::string& signature) {
    return enter(json::value(text), signature);
  }
  Reply enter(const json::value& text, const std::string& signature) {
    json::object body = names();
    body["workerIdentityProof"] = {{"poolKey", {{"challenge", text}, {"signature", signature}}}};
    return scene.call("registerWorker", {}, {.body = body, .token = ""});
  }
};

TEST_F(PoolKeys, a_challenge_needs_all_names_and_they_must_be_names) {
  EXPECT_EQ(scene.send("POST", path, {.token = ""}, "[").status, 400);
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

TEST_F(PoolKeys, whoever_asks_wrongly_too_often_waits) {
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
  EXPECT_EQ(scene.call("registerWorker", {}, {.body = body, .token = ""}).status, 400);
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
