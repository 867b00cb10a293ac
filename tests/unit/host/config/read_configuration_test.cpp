#include "host/config/read_configuration.hpp"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"

namespace muster::config {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

TEST(ReadConfiguration, a_file_that_cannot_be_read_is_a_mistake) {
  testing::TemporaryFolder folder;
  const Report report = read_configuration(folder / "none.toml", {});
  ASSERT_EQ(report.mistakes.size(), 1u);
  EXPECT_FALSE(report.configuration);
  EXPECT_NE(report.mistakes[0].reason.find("No such file"), std::string::npos);
  EXPECT_FALSE(read_configuration("/dev/zero", {}).configuration);
  EXPECT_FALSE(read_configuration(folder.path(), {}).configuration);
}

TEST(ReadConfiguration, a_file_that_is_too_large_is_refused_before_it_is_parsed) {
  const Report report =
      read_configuration_text(std::string(2'000'000, '#'), "large.toml", {"/tmp", {}});
  ASSERT_EQ(report.mistakes.size(), 1u);
  EXPECT_NE(report.mistakes[0].reason.find("2000000 bytes"), std::string::npos);
}

TEST(ReadConfiguration, worker_configurations_may_come_from_git) {
  testing::TemporaryFolder folder;
  const auto read = [&](const std::string& text) {
    const Report report = read_configuration_text("dataDirectory = \"/tmp\"\n" + text,
                                                  folder / "muster.toml", {"/tmp", {}});
    return report.configuration ? report.configuration->worker_configurations
                                : std::optional<WorkerConfigurations>();
  };
  fs::create_directory(folder / "x.git");
  EXPECT_EQ(read("workerConfigurations.source = { git = \"x.git\" }"),
            (WorkerConfigurations{"", (folder / "x.git").string(), "HEAD", 30s}));
  EXPECT_EQ(read("[workerConfigurations]\npoll = \"5s\"\nsource = { git = \"git@host:w.git\", ref "
                 "= \"main\", folder = \"deep/w\" }"),
            (WorkerConfigurations{"deep/w", "git@host:w.git", "main", 5s}));
  EXPECT_EQ(read("workerConfigurations.source = { folder = \".\" }")->folder, folder.path() / "");
}

TEST(ReadConfiguration, settings_of_the_queue_arrive_and_are_nothing_if_nobody_wrote_them) {
  const auto read = [](const std::string& text) {
    const Report report = read_configuration_text("dataDirectory = \"/tmp\"\n" + text,
                                                  "/tmp/muster.toml", {"/tmp", {}});
    return report.configuration ? report.configuration->queue : QueueSettings{};
  };
  using namespace std::chrono_literals;
  EXPECT_EQ(read(""), QueueSettings{});
  const QueueSettings queue = read(
      "[queue]\npatience = \"5m\"\nhalfLife = \"2h\"\nleastCharge = \"10s\"\n"
      "endedKept = \"1h\"\nmostWaiting = 7\nstrategies = [\"pack\", \"random\"]\n");
  EXPECT_EQ(queue.patience, 5min);
  EXPECT_EQ(queue.half_life, 2h);
  EXPECT_EQ(queue.least_charge, 10s);
  EXPECT_EQ(queue.ended_kept, 1h);
  EXPECT_EQ(queue.most_waiting, 7);
  EXPECT_EQ(queue.strategies, (std::vector<std::string>{"pack", "random"}));
}

TEST(ReadConfiguration, teams_arrive) {
  const Report report = read_configuration_text(
      "dataDirectory = \"/tmp\"\n[teams.ios]\nweight = 2.5\nmaxHeld = 40\nmaxPending = 500\n"
      "[teams.web]\nweight = 3\n",
      "/tmp/muster.toml", {"/tmp", {}});
  ASSERT_TRUE(report.configuration);
  EXPECT_EQ(report.configuration->teams,
            (std::map<std::string, TeamSettings>{{"ios", {2.5, 40, 500}}, {"web", {3, 0, 0}}}));
  for (const char* wrong :
       {"weight = 0", "weight = -1", "maxHeld = -1", "maxPending = 1.5", "x = 1"})
    EXPECT_FALSE(read_configuration_text("[teams.ios]\n" + std::string(wrong), "/tmp/muster.toml",
                                         {"/tmp", {}})
                     .configuration)
        << wrong;
}

TEST(ReadConfiguration, sources_of_demand_arrive) {
  testing::TemporaryFolder folder;
  const Report report = read_configuration_text(R"(
[demand.queue]
type = "taskcluster"
rootUrl = "https://tc.example.com"
clientId = "muster"
accessTokenFile = "token"
certificateFile = "certificate"
caFile = "/ca"
interval = "10s"
timeout = "5s"
staleAfter = "1m"
concurrency = 3
[demand.cron]
type = "file"
file = "demand.json"
[demand.other]
type = "http"
url = "http://127.0.0.1:1/x"
tokenFile = "/t"
)",
                                                folder / "muster.toml", {"/tmp", {}});
  ASSERT_TRUE(report.configuration);
  const auto& demand = report.configuration->demand;
  ASSERT_EQ(demand.size(), 3u);
  DemandSettings cron, other, queue;
  cron.name = "cron";
  cron.file = folder / "demand.json";
  EXPECT_EQ(demand[0], cron);
  other.name = "other";
  other.type = DemandType::http;
  other.url = "http://127.0.0.1:1/x";
  other.token_file = "/t";
  other.stale_after = 5min;
  EXPECT_EQ(demand[1], other);
  queue = {"queue",
           DemandType::taskcluster,
           "",
           "",
           "",
           "https://tc.example.com",
           "muster",
           folder / "token",
           folder / "certificate",
           "/ca",
           10s,
           5s,
           1min,
           3};
  EXPECT_EQ(demand[2], queue);
}

TEST(ReadConfiguration, every_key_arrives) {
  testing::TemporaryFolder folder;
  const Report report = read_configuration_text(R"(
listen = "localhost:1234"
dataDirectory = "state"
pluginFolders = [".", "/usr/include/netinet"]
workerConfigurations = "."
shutdownDeadline = "1500ms"
[log]
level = "warning"
format = "json"
[http]
threads = 3
maxConnections = 5
maxHeaderBytes = "1KiB"
maxBodyBytes = "2MiB"
maxOpenBodyBytes = "3KiB"
maxBufferedBodyBytes = "4MiB"
maxBufferedBodyBytesPerPeer = "3MiB"
headerTimeout = "1s"
bodyTimeout = "2m"
writeTimeout = "3h"
idleTimeout = "40ms"
accessLog = false
maxConnectionsPerPeer = 6
requestsPerSecondPerPeer = 7
requestBurstPerPeer = 8
limitLoopback = true
metricsNeedToken = true
tls = { certificateFile = "/etc/passwd", keyFile = "/etc/../etc/group" }
[auth]
adminTokenFile = "token"
trustedProxies = ["10.0.0.0/8", "::1"]
lockout = { failures = 5, window = "2m", duration = "3m" }
[auth.tokens.ci]
sha256 = "00ff11111111111111111111111111111111111111111111111111111111111e"
[auth.tokens.less]
sha256 = "10ff11111111111111111111111111111111111111111111111111111111111e"
scopes = ["muster:get"]
expires = 2027-01-31T00:00:00Z
[auth.clients."ci/deploy"]
accessTokenFile = "deploy-token"
scopes = ["worker-manager:*", "assume:team:x"]
expires = "2027-01-31T00:00:00Z"
disabled = true
description = "deploys"
replayProtection = true
[auth.roles."team:*"]
scopes = ["muster:get", "pool:<..>"]
[providers.b]
plugin = "provider/simulated"
isolation = "process"
concurrency = 4
deadline = "5s"
user = "root"
limits = { memory = "64MiB", cpuTime = "1h", openFiles = 64 }
[providers.b.config]
region = "us"
nested = [1, 2.5, true, {a = "b"}]
[providers.a]
plugin = "provider/static"
[strategies.mine]
plugin = "strategy/cheapest"
isolation = "in_process"
)",
                                                folder / "m.toml", {});
  ASSERT_TRUE(report.configuration) << to_string(report.mistakes.at(0), "m.toml");
  const HostConfiguration& host = *report.configuration;
  EXPECT_EQ(host.file, folder / "m.toml");
  EXPECT_EQ(to_string(host.listen), "127.0.0.1:1234");
  EXPECT_EQ(host.data_directory, folder / "state");
  EXPECT_EQ(host.plugin_folders.at(1), "/usr/include/netinet");
  EXPECT_TRUE(fs::equivalent(host.worker_configurations->folder, folder.path()));
  EXPECT_EQ(host.shutdown_deadline, 1500ms);
  EXPECT_EQ(host.log, (LogSettings{LogLevel::warning, LogFormat::json}));
  const HttpSettings http{
      3,       5,  1024, 2 << 20, 3072, 4 << 20,
      3 << 20, 1s, 2min, 3h,      40ms, false,
      6,       7,  8,    true,    true, TlsSettings{"/etc/passwd", "/etc/group"}};
  EXPECT_EQ(host.http, http);
  EXPECT_EQ(host.auth.admin_token_file, folder / "token");
  EXPECT_EQ(to_hex(host.auth.tokens.at("ci").digest),
            "00ff11111111111111111111111111111111111111111111111111111111111e");
  using Texts = std::vector<std::string>;
  EXPECT_EQ(host.auth.tokens.at("ci").scopes, Texts{"*"});
  EXPECT_EQ(host.auth.tokens.at("less").scopes, Texts{"muster:get"});
  const Time end = std::chrono::sys_days(std::chrono::January / 31 / 2027);
  EXPECT_EQ(host.auth.tokens.at("less").expires, end);
  const StaticClient deploy{
      folder / "deploy-token", {"worker-manager:*", "assume:team:x"}, end, true, "deploys", true};
  EXPECT_EQ(host.auth.clients.at("ci/deploy"), deploy);
  EXPECT_EQ(host.auth.roles.at("team:*"), (Texts{"muster:get", "pool:<..>"}));
  EXPECT_EQ(host.auth.trusted_proxies, (Texts{"10.0.0.0/8", "::1"}));
  EXPECT_EQ(host.auth.lockout, (LockoutSettings{5, 2min, 3min}));
  ASSERT_EQ(host.providers.size(), 2u);
  EXPECT_EQ(host.providers[0].id, "a");
  EXPECT_EQ(host.providers[0].isolation, std::nullopt);
  EXPECT_EQ(host.providers[0].deadline, 30s);
  const PluginInstance& b = host.providers[1];
  EXPECT_EQ(b.isolation, Isolation::process);
  EXPECT_EQ(b.concurrency, 4u);
  EXPECT_EQ(b.deadline, 5s);
  EXPECT_EQ(b.user, "root");
  EXPECT_EQ(b.limits, (CellLimits{64ull << 20, 1h, 64}));
  EXPECT_EQ(json::write(b.config), R"({"nested":[1,2.5,true,{"a":"b"}],"region":"us"})");
  ASSERT_EQ(host.strategies.size(), 1u);
  EXPECT_EQ(host.strategies[0].isolation, Isolation::in_process);
  EXPECT_EQ(host.place_of("/providers/b/config/region"), (folder / "m.toml").string() + ":56:10");
  EXPECT_EQ(host.place_of("/providers/b/config/unknown/deep"),
            (folder / "m.toml").string() + ":55:1");
}

TEST(ReadConfiguration,
     an_empty_file_gets_the_defaults_and_the_strategies_that_need_no_configuration) {
  const Report report = read_configuration_text("", "/etc/m.toml", {"/tmp", {"/usr"}});
  ASSERT_TRUE(report.configuration);
  EXPECT_EQ(report.configuration->data_directory, "/tmp");
  EXPECT_EQ(report.configuration->auth.admin_token_file, "/tmp/admin-token");
  EXPECT_EQ(report.configuration->plugin_folders, std::vector<fs::path>{"/usr"});
  std::vector<std::string> plugins;
  for (const PluginInstance& strategy : report.configuration->strategies)
    plugins.push_back(strategy.plugin);
  EXPECT_EQ(plugins, (std::vector<std::string>{"strategy/cheapest", "strategy/classic",
                                               "strategy/estimator"}));
}

}  // namespace
}  // namespace muster::config
