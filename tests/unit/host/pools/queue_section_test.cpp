#include "host/pools/queue_section.hpp"

#include <gmock/gmock.h>

#include "host/pools/api_pool.hpp"
#include "host/pools/offline_check.hpp"
#include "tests/unit/host/pools/fixture.hpp"

namespace muster::pools {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string findings_of(std::string_view queue) {
  std::string all;
  for (const Finding& finding :
       check_queue_section({{"workerConfig", json::object{{"queue", json::parse(queue).value()}}}}))
    all += to_string(finding) + "\n";
  return all;
}

struct WrongQueue {
  const char *queue, *says;
};

TEST(QueueSection, each_wrong_value_is_told_with_its_key) {
  for (const WrongQueue& wrong : std::initializer_list<WrongQueue>{
           {"5", "workerConfig.queue: must be a table"},
           {R"({"resorces": {}})",
            "workerConfig.queue.resorces: is not known; did you mean resources?"},
           {R"({"resources": 3})",
            "workerConfig.queue.resources: must be a table of whole numbers"},
           {R"({"resources": {"memory": -1}})",
            "workerConfig.queue.resources.memory: the resource memory is -1; it must be from 1 to"},
           {R"({"resources": {"memory": 0}})", "the resource memory is 0"},
           {R"({"resources": {"memory": 1.5}})",
            "workerConfig.queue.resources.memory: is 1.5, but must be a whole number"},
           {R"({"resources": {"memory": "64G"}})", "is \"64G\", but must be a whole number"},
           {R"({"resources": {"": 1}})", "the name of a resource must have 1 to 128"},
           {R"({"resources": {"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,
                "l":1,"m":1,"n":1,"o":1,"p":1,"q":1}})",
            "workerConfig.queue.resources: there are 17 resources; at most 16"},
           {R"({"tags": "gpu"})", "workerConfig.queue.tags: must be a list of strings"},
           {R"({"tags": ["gpu", 5]})", "workerConfig.queue.tags: must be a list of strings"},
           {R"({"tags": [""]})", "a tag must have 1 to 128 printable characters"},
           {R"({"team": 5})", "workerConfig.queue.team: must be a string"},
           {R"({"team": ""})", "the name of a team must have 1 to 128"},
           {R"({"announce": "team"})", "workerConfig.queue.announce: must be a list of what"},
           {R"({"announce": ["pool"]})", "write announce = [\"resources\", \"tags\", \"team\"]"}})
    EXPECT_THAT(findings_of(wrong.queue), HasSubstr(wrong.says)) << wrong.queue;
}

TEST(QueueSection, what_is_right_is_not_complained_about) {
  EXPECT_THAT(check_queue_section({}), IsEmpty());
  EXPECT_THAT(findings_of("{}"), IsEmpty());
  EXPECT_THAT(findings_of(R"({"resources": {"active-task": 8, "memory": 65536}, "tags": ["gpu"],
                        "team": "ios", "announce": ["team"]})"),
              IsEmpty());
  EXPECT_THAT(findings_of(R"({"announce": []})"), IsEmpty());
}

TEST(WorkerKeys, that_are_none_refuse_the_worker_configuration_at_their_line) {
  const std::string key =
      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIXtjzV2ZJS555OaZWL4ZkKAS7HC1hhGK1ZRCT+3/X5O rack";
  const auto with_keys = [](const std::string& list) {
    return configuration("publicWorkerKeys = [" + list + "]\n");
  };
  for (const auto& [list, says] : std::initializer_list<std::pair<std::string, std::string>>{
           {"\"-----BEGIN OPENSSH PRIVATE KEY-----\"", "publicWorkerKeys[0]: is a private key"},
           {"\"" + key + "\", \"garbage\"",
            "publicWorkerKeys[1]: \"garbage\" is not a kind of key"},
           {"\"" + key + "\", \"" + key + " again\"", "this key occurs twice"}}) {
    const auto outcome = Fixture().build(with_keys(list));
    EXPECT_FALSE(outcome.configuration);
    for (const std::string& texts :
         {texts_of(outcome.problems),
          texts_of(
              check_offline(std::vector<rules::SourceFile>{{"build.toml", with_keys(list)}}, {}))})
      EXPECT_THAT(texts, AllOf(HasSubstr("build.toml:10:1: publicWorkerKeys: "), HasSubstr(says)));
  }
  Fixture fixture;
  const auto right = fixture.build(with_keys("\"" + key + "\""));
  ASSERT_TRUE(right.configuration) << texts_of(right.problems);
  EXPECT_THAT(right.configuration->pools.begin()->second->public_worker_keys, ElementsAre(key));
  const auto without = fixture.build(configuration(""));
  EXPECT_THAT(without.configuration->pools.begin()->second->public_worker_keys, IsEmpty());
}

TEST(QueueSection, a_wrong_one_refuses_the_worker_configuration_at_its_line) {
  Fixture fixture;
  const std::string wrong = configuration(R"([rules.values.workerConfig.queue]
resources = { memory = -1 }
tags = [5]
teem = "ios"
)");
  const auto outcome = fixture.build(wrong);
  EXPECT_FALSE(outcome.configuration);
  for (const std::string& texts :
       {texts_of(outcome.problems),
        texts_of(check_offline(std::vector<rules::SourceFile>{{"build.toml", wrong}}, {}))}) {
    EXPECT_THAT(texts, HasSubstr("build.toml:11:"));
    EXPECT_THAT(texts, HasSubstr("workerConfig.queue.resources.memory: the resource memory is -1"));
    EXPECT_THAT(texts, HasSubstr("build.toml:12:1: workerConfig.queue.tags: must be a list"));
    EXPECT_THAT(texts, HasSubstr("build.toml:13:1: workerConfig.queue.teem: is not known"));
    EXPECT_THAT(texts, HasSubstr("did you mean team?"));
  }
}

TEST(QueueSection, workers_of_a_dedicated_pool_have_no_team_of_their_own) {
  Fixture fixture;
  const auto with_team = [](const std::string& teams) {
    return configuration(teams + "\n[rules.values.workerConfig.queue]\nteam = \"ios\"\n");
  };
  const auto refused = fixture.build(with_team("teams = [\"android\"]"));
  EXPECT_FALSE(refused.configuration);
  EXPECT_THAT(texts_of(refused.problems),
              HasSubstr("build.toml:12:1: workerConfig.queue.team: stands beside `teams`"));
  EXPECT_TRUE(fixture.build(with_team("")).configuration);
  EXPECT_TRUE(fixture.build(with_team("teams = []")).configuration);
}

TEST(QueueSection, a_wrong_one_refuses_a_pool_of_the_api) {
  Fixture fixture;
  const auto pool = [&](std::string_view queue) {
    return pool_from_api(
        WorkerPoolId("proj/api"),
        {{"providerId", "sim"},
         {"description", "d"},
         {"owner", "o@example.com"},
         {"config", json::object{{"minCapacity", 0},
                                 {"maxCapacity", 1},
                                 {"launchConfigs",
                                  json::array{json::object{
                                      {"region", "eu-1"},
                                      {"workerConfig",
                                       json::object{{"queue", json::parse(queue).value()}}}}}}}}},
        fixture.provider_context, fixture.expand());
  };
  const auto refused = pool(R"({"tags": [5]})");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error_class, ErrorClass::invalid);
  EXPECT_THAT(refused.error().message,
              HasSubstr("launchConfigs[0].workerConfig.queue.tags: must be a list of strings"));
  EXPECT_TRUE(pool(R"({"tags": ["gpu"]})"));
}

}  // namespace
}  // namespace muster::pools
