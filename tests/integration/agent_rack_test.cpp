// Machines of a rack that come by themselves, with a key of their pool or a secret of their own,
// and say in which state they are: agents, provider/static and a real host.
#include <fstream>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/secret.hpp"
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
        << "\"\nfolder = \"" << id << "\"\n[identity]\n"
        << identity << "[worker]\ncommand = [\"" << (folder / "worker").string()
        << "\"]\n[timings]\nretryMin = \"50ms\"\nretryMax = \"200ms\"\n"
        << timings << "[state]\nos = \"" << os << "\"\n";
    return std::make_unique<Process>(
        "muster-agent", std::vector<std::string>{"--config", (folder / (id + ".toml")).string()});
  }
  std::unique_ptr<Process> with_key(const std::string& id, const std::string& key,
                                    const std::string& os = "14.5") const {
    return start(id, "kind = \"poolKey\"\nkeyFile = \"" + key + "\"\n", os);
  }
  std::unique_ptr<Process> with_secret(const std::string& id, const std::string& os) const {
    return start(id, "kind = \"staticSecret\"\nsecretFile = \"secret\"\n", os);
  }

  // What the host says of it; null if it knows no such worker.
  json::value shown(const std::string& id) const {
    const auto answer =
        host->client().get("/api/muster/v1/pools/worker-manager%2Fbuild/workers/row/" + id);
    return answer ? *answer : json::value();
  }

  TemporaryFolder folder;
  std::string secret;
  std::string timings;  // further ones
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
