#include "agent/configuration.hpp"

#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"

namespace muster::agent {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

const std::string right = R"(rootUrl = "http://127.0.0.1:8600/"
workerPoolId = "a/b"
providerId = "p"
workerGroup = "g"
workerId = "w"
folder = "state"
[identity]
kind = "staticSecret"
secretFile = "secret"
[worker]
command = ["/bin/true"]
)";

const std::string runner = R"(provider:
  providerType: static
  rootURL: https://tc.example/
  providerID: p
  workerPoolID: a/b
  workerGroup: g
  workerID: w
  staticSecret: "abc"
worker:
  implementation: generic-worker
  path: /usr/local/bin/generic-worker
  configPath: /etc/worker.yml
workerConfig:
  idleTimeoutSecs: 30
  "on": true
  list: [1, -2.5, "3", ~]
getSecrets: false
)";

std::vector<std::string> mistakes(const std::string& text,
                                  const std::string& file = "/x/agent.toml") {
  const ReadConfiguration read = read_configuration(file, text);
  std::vector<std::string> lines;
  for (const auto& mistake : read.mistakes)
    lines.push_back(describe(mistake, "f", read.has_positions));
  EXPECT_EQ(read.configuration.has_value(), lines.empty());
  return lines;
}

std::string with(const std::string& text, const std::string& from, const std::string& to) {
  std::string changed = text;
  const auto at = changed.find(from);
  return at == changed.npos ? "no such text" : changed.replace(at, from.size(), to);
}

TEST(AgentConfiguration, every_mistake_names_its_key_and_line) {
  EXPECT_THAT(mistakes("folder = "), ElementsAre(HasSubstr("f:1:")));
  EXPECT_THAT(mistakes(with(right, "workerId = \"w\"\n", "")),
              ElementsAre(HasSubstr("workerId: this is required")));
  EXPECT_THAT(mistakes(with(right, "\"a/b\"", "\"ab\"")),
              ElementsAre(HasSubstr("f:2:1: error: workerPoolId: \"ab\" is not a worker pool")));
  EXPECT_THAT(mistakes(with(right, "http:", "ftp:")),
              ElementsAre(HasSubstr("f:1:1: error: rootUrl")));
  EXPECT_THAT(mistakes(with(right, "workerGroup", "workerGruop")),
              ElementsAre(HasSubstr("workerGroup: this is required"),
                          HasSubstr("f:4:1: error: workerGruop: there is no such key; did you mean "
                                    "workerGroup?")));
  EXPECT_THAT(mistakes(with(right, "staticSecret", "secret")),
              ElementsAre(HasSubstr("f:8:1: error: identity.kind: \"secret\" is none of local,")));
  EXPECT_THAT(mistakes(with(right, "secretFile", "keyFile")),
              ElementsAre(HasSubstr("identity.secretFile"), HasSubstr("identity.keyFile")));
  EXPECT_THAT(mistakes(with(right, "[\"/bin/true\"]", "\"/bin/true\"")),
              ElementsAre(HasSubstr("f:11:1: error: worker.command: this must be a command")));
}

TEST(AgentConfiguration, says_all_mistakes_at_once) {
  const auto lines = mistakes(right + R"(stopGrace = 30
refresh = "always"
environment = { A = 1 }
[state]
os = 14
kernel = { comand = ["x"] }
[timings]
retryMin = "1ms"
retryMax = "soon"
)");
  EXPECT_THAT(lines,
              ElementsAre(HasSubstr("worker.stopGrace"), HasSubstr("worker.refresh"),
                          HasSubstr("worker.environment.A"), HasSubstr("state.os"),
                          HasSubstr("state.kernel.command"), HasSubstr("state.kernel.comand"),
                          HasSubstr("timings.retryMin"), HasSubstr("timings.retryMax")));
}

TEST(AgentConfiguration, a_file_that_is_not_there_or_of_no_known_kind_is_a_mistake) {
  EXPECT_THAT(read_configuration("/no/such/agent.toml").mistakes.at(0).reason,
              HasSubstr("/no/such/agent.toml"));
  EXPECT_THAT(mistakes("", "agent.conf"), ElementsAre(HasSubstr(".toml, .json")));
  EXPECT_THAT(mistakes("{", "agent.json"), ElementsAre(HasSubstr("f: error: this is not JSON")));
}

TEST(AgentConfiguration, is_read_with_defaults_and_files_beside_it) {
  const auto read = read_configuration("/x/agent.toml", right);
  ASSERT_TRUE(read.configuration);
  const Configuration& configuration = *read.configuration;
  EXPECT_EQ(configuration.place.root_url, "http://127.0.0.1:8600");
  EXPECT_EQ(configuration.folder, "/x/state");
  EXPECT_EQ(configuration.identity.secret_file, "/x/secret");
  EXPECT_EQ(configuration.timings.stop_grace, 30s);
  EXPECT_EQ(configuration.worker.refresh, WorkerSettings::Refresh::signal);
  EXPECT_EQ(configuration.capacity, 1);
}

// Nobody would put a machine of a rack on the list again.
TEST(AgentConfiguration, only_workers_that_were_launched_are_removed_unless_it_says_so) {
  const auto removes = [](const std::string& text, const char* file = "/x/agent.toml") {
    return read_configuration(file, text).configuration.value().remove_on_exit;
  };
  EXPECT_FALSE(removes(right));
  EXPECT_FALSE(removes(runner, "/x/runner.yml"));
  EXPECT_TRUE(removes("removeOnExit = true\n" + right));
  const std::string local = with(right, "staticSecret", "local");
  EXPECT_TRUE(removes(local));
  EXPECT_FALSE(removes("removeOnExit = false\n" + local));
}

TEST(AgentConfiguration, of_json_has_the_same_keys) {
  const auto read =
      read_configuration("/x/agent.json", R"({"rootUrl": "http://h", "workerPoolId": "a/b",
      "providerId": "p", "workerGroup": "g", "workerId": "w", "folder": "/f", "capacity": 4,
      "caFile": "ca.pem", "removeOnExit": false, "logLevel": "debug",
      "identity": {"kind": "local", "secretFile": "/s"},
      "worker": {"command": ["x", "y"], "stopGrace": "1m", "refresh": {"command": ["r"]},
                 "environment": {"A": "b"}},
      "state": {"os": "1", "kernel": {"command": ["uname"]}},
      "timings": {"idleCheck": "2s"}})");
  ASSERT_TRUE(read.configuration) << read.mistakes.at(0).reason;
  EXPECT_EQ(read.configuration->capacity, 4);
  EXPECT_EQ(read.configuration->identity.kind, IdentityKind::local);
  EXPECT_EQ(read.configuration->worker.refresh_command, Words{"r"});
  EXPECT_EQ(read.configuration->worker.environment.at("A"), "b");
  EXPECT_EQ(read.configuration->state.at("kernel").command, Words{"uname"});
  EXPECT_EQ(read.configuration->timings.idle_check, 2s);
  EXPECT_EQ(read.configuration->timings.stop_grace, 60s);
}

TEST(AgentConfiguration, the_workers_user_and_allowed_variables_are_checked) {
  EXPECT_THAT(mistakes(right + "user = \"no-such-user-here\"\n"),
              ElementsAre(HasSubstr("worker.user: this machine has no user")));
  EXPECT_THAT(mistakes(right + "allowedEnvironment = [\"PATH\", \"MUSTER_REPORTS\"]\n"),
              ElementsAre(HasSubstr("worker.allowedEnvironment: \"MUSTER_REPORTS\"")));
  const auto read =
      read_configuration("/x/agent.toml", right + "allowedEnvironment = [\"PATH\"]\nuser = \"" +
                                              std::to_string(::geteuid()) + ":" +
                                              std::to_string(::getegid()) + "\"\n");
  ASSERT_TRUE(read.configuration);
  EXPECT_THAT(read.configuration->worker.allowed_environment, ElementsAre("PATH"));
  EXPECT_EQ(read.configuration->worker.user.has_value(), ::geteuid() == 0);
  EXPECT_EQ(mistakes(right + "user = \"4711:4711\"\n").empty(), ::geteuid() == 0);
}

TEST(AgentConfiguration, a_proof_comes_from_a_file_or_from_a_command) {
  const auto identity = [&](const std::string& keys) {
    return mistakes(with(right, "kind = \"staticSecret\"\nsecretFile = \"secret\"\n", keys));
  };
  EXPECT_THAT(identity("kind = \"proof\"\n"), ElementsAre(HasSubstr("identity.proofFile: ")));
  EXPECT_THAT(identity("kind = \"proof\"\nproofFile = \"p\"\nproofCommand = [\"c\"]\n"),
              ElementsAre(HasSubstr("either proofFile or proofCommand")));
  EXPECT_THAT(identity("kind = \"proof\"\nproofFile = \"p\"\nsecretFile = \"s\"\n"),
              ElementsAre(HasSubstr("identity.secretFile: the identity proof has no use for it")));
  EXPECT_THAT(identity("kind = \"poolKey\"\nkeyFile = \"k\"\nproofFile = \"p\"\n"),
              ElementsAre(HasSubstr("identity.proofFile: only the identity proof")));
  EXPECT_THAT(identity("kind = \"proof\"\nproofFile = \"p\"\n"), IsEmpty());
  EXPECT_THAT(identity("kind = \"proof\"\nproofCommand = [\"c\", \"x\"]\n"), IsEmpty());
}

TEST(AgentConfiguration, clouds_need_no_names_and_relays_need_the_hosts_address) {
  const std::string rest = "folder = \"f\"\n[worker]\ncommand = [\"x\"]\n[identity]\n";
  EXPECT_THAT(mistakes(rest + "kind = \"aws\"\n"), IsEmpty());
  EXPECT_THAT(mistakes(rest + "kind = \"relay\"\nrelayUrl = \"https://r\"\n"),
              ElementsAre(HasSubstr("rootUrl")));
  EXPECT_THAT(mistakes("rootUrl = \"https://m\"\n" + rest + "kind = \"relay\"\n"),
              ElementsAre(HasSubstr("identity.relayUrl")));
}

TEST(AgentConfiguration, what_is_announced_is_read_with_care) {
  EXPECT_THAT(
      mistakes("resources = { memory = 0, disk = \"7G\" }\ntags = [\"\"]\nteam = 5\n" + right),
      ElementsAre(HasSubstr("resources.memory"), HasSubstr("resources.disk"),
                  HasSubstr("f:2:1: error: tags: this must be a list of strings"),
                  HasSubstr("f:3:1: error: team")));
  const auto read = read_configuration(
      "/x/agent.toml",
      "resources = { memory = 65536 }\ntags = [\"gpu\"]\nteam = \"ios\"\n" + right);
  ASSERT_TRUE(read.configuration);
  EXPECT_THAT(read.configuration->reported.resources, ElementsAre(Pair("memory", 65536)));
  EXPECT_THAT(read.configuration->reported.tags, ElementsAre("gpu"));
  EXPECT_EQ(read.configuration->reported.team, "ios");
}

TEST(AgentConfiguration, what_the_command_line_says_counts_more) {
  const Overrides overrides{
      .worker_pool_id = "x/y",
      .reported = {.resources = {{"disk", 7}, {"memory", 2}}, .tags = {"arm"}, .team = ""}};
  const std::string announcing =
      "resources = { memory = 1, cores = 4 }\ntags = [\"gpu\"]\nteam = \"ios\"\n" + right;
  for (const std::string& text : {announcing, with(announcing, "workerPoolId = \"a/b\"\n", "")}) {
    const auto read = read_configuration("/x/agent.toml", text, overrides);
    ASSERT_TRUE(read.configuration);
    EXPECT_EQ(read.configuration->place.worker_pool_id, "x/y");
    const ReportedCapabilities& reported = read.configuration->reported;
    EXPECT_THAT(reported.resources,
                ElementsAre(Pair("cores", 4), Pair("disk", 7), Pair("memory", 2)));
    EXPECT_THAT(reported.tags, ElementsAre("arm"));
    EXPECT_EQ(reported.team, "ios");
  }
  const auto runners = read_configuration("/x/runner.yml", runner, overrides);
  EXPECT_EQ(runners.configuration.value().place.worker_pool_id, "x/y");
}

TEST(AgentConfiguration, a_key_beside_another_identity_is_of_use_where_nobody_vouches) {
  const std::string beside = with(right, "kind =", "poolKeyFile = \"pool.key\"\nkind =");
  const auto read = read_configuration("/x/agent.toml", beside);
  ASSERT_TRUE(read.configuration);
  EXPECT_EQ(read.configuration->identity.key_file, "/x/pool.key");
  std::vector<std::string> keys;
  for (const auto& mistake : check_files(*read.configuration)) keys.push_back(mistake.key);
  EXPECT_THAT(keys, ElementsAre("identity.secretFile", "identity.poolKeyFile"));
  EXPECT_THAT(mistakes(with(with(beside, "staticSecret", "poolKey"), "secretFile", "keyFile")),
              ElementsAre(HasSubstr("poolKeyFile: the identity poolKey has no use for it")));
}

TEST(AgentConfiguration, files_that_it_names_are_looked_at) {
  const muster::testing::TemporaryFolder folder;
  const std::string file = (folder / "agent.toml").string();
  auto configuration = *read_configuration(file, right).configuration;
  const auto wrong = [&] {
    std::vector<std::string> keys;
    for (const auto& mistake : check_files(configuration)) keys.push_back(mistake.key);
    return keys;
  };
  EXPECT_THAT(wrong(), ElementsAre("identity.secretFile"));
  std::ofstream(folder / "secret") << "short";
  ::chmod((folder / "secret").c_str(), 0600);
  EXPECT_THAT(wrong(), ElementsAre("identity.secretFile"));
  std::ofstream(folder / "secret") << std::string(44, 'x');
  EXPECT_THAT(wrong(), IsEmpty());
  configuration.worker.command = {"/no/such/program"};
  configuration.ca_file = folder / "secret";
  EXPECT_THAT(wrong(), ElementsAre("caFile", "worker.command"));
}

// -------------------------------------------------------------------------------------------------
// worker-runner's

TEST(WorkerRunner, configuration_is_taken_over) {
  const auto read = read_configuration("/x/runner.yml", runner);
  ASSERT_TRUE(read.configuration) << read.mistakes.at(0).reason;
  const Configuration& configuration = *read.configuration;
  EXPECT_EQ(configuration.place.root_url, "https://tc.example");
  EXPECT_EQ(configuration.place.worker_pool_id, "a/b");
  EXPECT_EQ(configuration.identity.kind, IdentityKind::static_secret);
  EXPECT_EQ(configuration.identity.secret->reveal(), "abc");
  EXPECT_EQ(configuration.worker.command,
            (Words{"/usr/local/bin/generic-worker", "run", "--config", "/etc/worker.yml"}));
  EXPECT_EQ(configuration.worker_config,
            R"({"idleTimeoutSecs":30,"on":true,"list":[1,-2.5,"3",null]})");
  EXPECT_EQ(configuration.worker_config_path, "/etc/worker.yml");
}

TEST(WorkerRunner, clouds_need_nothing_else) {
  for (const char* cloud : {"aws", "google", "azure"}) {
    const std::string text =
        "provider: {providerType: " + std::string(cloud) +
        "}\nworker: {implementation: generic-worker, path: /w, configPath: /c}\n";
    EXPECT_THAT(mistakes(text, "runner.yaml"), IsEmpty()) << cloud;
  }
}

TEST(WorkerRunner, what_is_not_supported_is_named) {
  const auto said = [](const std::string& text) { return mistakes(text, "runner.yml"); };
  EXPECT_THAT(said("a: [1"), ElementsAre(HasSubstr("this is not YAML")));
  EXPECT_THAT(said("- 1"), ElementsAre(HasSubstr("mapping")));
  EXPECT_THAT(said("a: &x 1\nb: *x"), ElementsAre(HasSubstr("aliases")));
  EXPECT_THAT(said("a: 1\na: 2"), ElementsAre(HasSubstr("twice")));
  EXPECT_THAT(said(with(runner, "providerType: static", "providerType: standalone")),
              ElementsAre(HasSubstr("standalone")));
  EXPECT_THAT(said(with(runner, "generic-worker\n", "docker-worker\n")),
              ElementsAre(HasSubstr("worker.implementation")));
  EXPECT_THAT(said(runner + "cacheOverRestarts: /x\n"),
              ElementsAre(HasSubstr("f:18:1: error: cacheOverRestarts")));
  EXPECT_THAT(said(with(runner, "  workerID: w\n", "")),
              ElementsAre(HasSubstr("provider.workerID")));
}

}  // namespace
}  // namespace muster::agent
