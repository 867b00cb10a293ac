// Machines of a rack that come by themselves, with a key of their pool or a secret of their own,
// and say in which state they are: agents, provider/static and a real host.
#include <fstream>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/secret.hpp"
#include "tests/integration/musterd_process.hpp"
#include "tests/support/eventually.hpp"

namespace muster::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string pool = "worker-manager/build";

class MachineOfARack : public ::testing::Test {
 protected:
  MachineOfARack() {
    for (const char* name : {"key", "stranger"})
      if (run("/usr/bin/ssh-keygen",
              {"-q", "-t", "ed25519", "-N", "", "-C", name, "-f", (folder / name).string()})
              .exit_code != 0)
        throw std::runtime_error("no ssh-keygen");
    secret = random_token().reveal() + "x";
    std::ofstream(folder / "secret") << secret;
    ::chmod((folder / "secret").c_str(), 0600);
    std::filesystem::create_directory(folder / "workers");
    std::ofstream(folder / "workers/rack.toml") << R"(workerTypes = ["build"]
[[rules]]
ruleId = "all"
description = "machines of the rack"
[rules.values]
providers = ["rack"]
maxCapacity = 10
owner = "lab@example.com"
description = "machines of the rack"
static.state = { os = "14.*" }
)";
    std::string key = content_of(folder / "key.pub");
    key.resize(key.find('\n'));
    host = std::make_unique<Musterd>(
        "workerConfigurations = \"" + (folder / "workers").string() +
            "\"\n[providers.rack]\nplugin = \"provider/static\"\n[providers.rack.config]\n"
            "region = \"row\"\n[providers.rack.config.pools.\"" +
            pool + "\"]\npublicKeys = [\"" + key +
            "\"]\n[[providers.rack.config.machines]]\nworkerPoolId = \"" + pool +
            "\"\nworkerId = \"named\"\nsecretSha256 = \"" + to_hex(sha256(secret)) + "\"\n",
        Variables{}, MUSTER_SHIPPED_PLUGINS);
    std::ofstream(folder / "worker") << "#!/bin/sh\ntrap 'exit 0' TERM\necho worker runs\n"
                                        "while :; do sleep 1000 & wait $!; done\n";
    ::chmod((folder / "worker").c_str(), 0700);
  }

  std::unique_ptr<Process> start(const std::string& id, const std::string& identity,
                                 const std::string& os) const {
    std::ofstream(folder / (id + ".toml"))
        << "rootUrl = \"" << host->address().url << "\"\nworkerPoolId = \"" << pool
        << "\"\nproviderId = \"rack\"\nworkerGroup = \"row\"\nworkerId = \"" << id
        << "\"\nfolder = \"" << id << "\"\n"
        << announced << "[identity]\n"
        << identity << "[worker]\ncommand = [\"" << (folder / "worker").string()
        << "\"]\n[timings]\nretryMin = \"50ms\"\nretryMax = \"200ms\"\n"
        << timings << "[state]\nos = \"" << os << "\"\n";
    std::vector<std::string> words{"--config", (folder / (id + ".toml")).string()};
    words.insert(words.end(), options.begin(), options.end());
    return std::make_unique<Process>("muster-agent", words);
  }
  std::unique_ptr<Process> with_key(const std::string& id, const std::string& key,
                                    const std::string& os = "14.5") const {
    return start(id, "kind = \"poolKey\"\nkeyFile = \"" + key + "\"\n", os);
  }
  std::unique_ptr<Process> with_secret(const std::string& id, const std::string& os,
                                       const std::string& beside = "") const {
    return start(id, "kind = \"staticSecret\"\nsecretFile = \"secret\"\n" + beside, os);
  }
  std::string refusal(Process& agent) const {
    EXPECT_EQ(agent.exit_code(), 23);
    EXPECT_THAT(agent.output(), Not(HasSubstr("worker runs")));
    return agent.output();
  }
  void let_run_and_stop(Process& agent) const {
    agent.wait_for("worker runs");
    agent.signal(SIGTERM);
    EXPECT_EQ(agent.exit_code(), 0);
  }

  // At the host; those of the provider count no more then.
  void set_key(const std::string& name) const {
    const auto set = host->client().put("/api/muster/v1/worker-pools/worker-manager%2Fbuild",
                                        {{"publicKeys", {content_of(folder / (name + ".pub"))}}});
    ASSERT_TRUE(set) << set.error().message;
  }

  // What the host says of it; null if it knows no such worker.
  json::value shown(const std::string& id) const {
    const auto answer =
        host->client().get("/api/muster/v1/pools/worker-manager%2Fbuild/workers/row/" + id);
    return answer ? *answer : json::value();
  }

  TemporaryFolder folder;
  std::string secret;
  std::string timings;               // further ones
  std::string announced;             // further lines
  std::vector<std::string> options;  // further words
  std::unique_ptr<Musterd> host;
};

TEST_F(MachineOfARack, with_a_strangers_key_is_not_let_in) {
  timings = "registrationTimeout = \"300ms\"\n";
  const auto agent = with_key("m-1", "stranger");
  EXPECT_EQ(agent->exit_code(), 23);
  EXPECT_THAT(agent->output(), AllOf(HasSubstr("publicKey"), Not(HasSubstr("worker runs"))));
  EXPECT_TRUE(shown("m-1").is_null());
}

TEST_F(MachineOfARack, with_the_key_of_its_pool_cannot_be_one_that_has_a_secret) {
  ASSERT_TRUE(eventually([&] { return !shown("named").is_null(); }));
  EXPECT_EQ(with_key("named", "key")->exit_code(), 23);
}

TEST_F(MachineOfARack, with_the_key_of_its_pool_is_let_in_renews_and_comes_back) {
  for (int i = 0; i < 2; ++i) {
    const auto agent = with_key("m-1", "key");
    agent->wait_for("worker runs");
    agent->signal(SIGHUP);
    agent->wait_for("\"message\":\"renewed\"");
    agent->signal(SIGTERM);
    EXPECT_EQ(agent->exit_code(), 0);
  }
}

TEST_F(MachineOfARack, of_a_pool_with_a_key_at_the_host_has_to_show_it_beside_its_secret) {
  ASSERT_TRUE(eventually([&] { return !shown("named").is_null(); }));
  set_key("stranger");
  EXPECT_THAT(refusal(*with_secret("named", "14.5")), HasSubstr("requires a key to join"));
  EXPECT_THAT(refusal(*with_secret("named", "14.5", "poolKeyFile = \"key\"\n")),
              HasSubstr("is not a key of this worker's pool"));
  let_run_and_stop(*with_secret("named", "14.5", "poolKeyFile = \"stranger\"\n"));
}

TEST_F(MachineOfARack, has_no_use_for_a_key_as_soon_as_it_was_replaced_at_the_host) {
  let_run_and_stop(*with_key("m-1", "key"));
  set_key("stranger");
  EXPECT_THAT(refusal(*with_key("m-1", "key")), HasSubstr("is not a key of this worker's pool"));
  let_run_and_stop(*with_key("m-2", "stranger"));
  set_key("key");
  EXPECT_THAT(refusal(*with_key("m-2", "stranger")), HasSubstr("is not a key of this worker's"));
}

TEST_F(MachineOfARack, gets_what_only_it_can_serve_by_what_it_announces) {
  const auto small = with_key("small", "key");
  announced = "resources = { memory = 65536, disk = 1 }\ntags = [\"ssd\"]\n";
  options = {"--resource", "disk=500", "--tag=gpu"};
  const auto large = with_key("large", "key");
  small->wait_for("worker runs");
  large->wait_for("worker runs");
  const std::string requests = "/api/muster/v1/teams/ios/requests";
  const auto asked = host->client().post(
      requests, {{"resources", {{"memory", 65536}, {"disk", 500}}}, {"tags", {"gpu"}}});
  ASSERT_TRUE(asked) << asked.error().message;
  const auto granted = host->client().get(
      requests + "/" + std::string(asked->at("requestId").as_string()) + "?wait=20");
  ASSERT_TRUE(granted) << granted.error().message;
  ASSERT_EQ(granted->at("state").as_string(), "held") << json::write(*granted);
  EXPECT_EQ(granted->at("worker").at("workerId").as_string(), "large");
  EXPECT_EQ(shown("large").at("announced"),
            (json::value{{"resources", {{"disk", 500}, {"memory", 65536}}}, {"tags", {"gpu"}}}));
}

TEST_F(MachineOfARack, announces_no_team_where_the_pool_does_not_let_it) {
  timings = "registrationTimeout = \"300ms\"\n";
  options = {"--team", "ios"};
  EXPECT_THAT(refusal(*with_key("m-1", "key")), HasSubstr("may not report `team`"));
  options = {"--team", "ios", "--pool", "build"};
  EXPECT_EQ(with_key("m-1", "key")->exit_code(), 2);
}

TEST_F(MachineOfARack, in_the_wrong_state_is_told_what_is_wrong_and_let_in_when_it_was_put_right) {
  ASSERT_TRUE(eventually([&] { return !shown("named").is_null(); }));
  const auto wrong = with_secret("named", "13.2");
  EXPECT_EQ(wrong->exit_code(), 20);
  EXPECT_THAT(wrong->output(), AllOf(HasSubstr("HTTP 410"),
                                     HasSubstr("os is \\\"13.2\\\", the pool wants \\\"14.*\\\""),
                                     Not(HasSubstr("worker runs"))));
  const auto right = with_secret("named", "14.5");
  right->wait_for("worker runs");
}

}  // namespace
}  // namespace muster::testing
