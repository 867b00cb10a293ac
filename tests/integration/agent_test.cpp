// muster-agent as a machine runs it, with a real host.
#include <csignal>
#include <fstream>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/secret.hpp"
#include "tests/integration/musterd_process.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/raw_client.hpp"
#include "tests/support/scripted_server.hpp"

namespace muster::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string api = "/api/worker-manager/v1";
const std::string worker_path = api + "/workers/rack%2Fbuild/row/machine";

bool lives(pid_t pid) {
  return pid > 0 && ::kill(pid, 0) == 0;
}

// A host with a pool of announced machines, one of them announced, and a folder for its agent.
class Machine : public ::testing::Test {
 protected:
  // `lasts`: seconds that credentials are good for.
  void announce(int lasts = 3600) {
    set_pool(lasts, "first");
    secret = random_token().reveal() + "x";
    ok(host.client().put(worker_path, {{"expires", "2099-01-01T00:00:00Z"},
                                       {"capacity", 1},
                                       {"providerInfo", json::object{{"staticSecret", secret}}}}));
    write_secret(secret);
    configure();
  }

  void set_pool(int lasts, const std::string& value) {
    const json::object pool{
        {"providerId", "rack"},
        {"owner", "lab@example.com"},
        {"description", ""},
        {"emailOnError", false},
        {"config", json::object{{"lifecycle", json::object{{"reregistrationTimeout", lasts}}},
                                {"workerConfig",
                                 json::object{{"environment", json::object{{"VALUE", value}}}}}}}};
    const std::string path = api + "/worker-pool/rack%2Fbuild";
    ok(made_ ? host.client().post(path, pool) : host.client().put(path, pool));
    made_ = true;
  }

  void write_secret(const std::string& text) const {
    std::ofstream(folder / "secret") << text;
    ::chmod((folder / "secret").c_str(), 0600);
  }

  void configure(const std::string& root_url = "", const std::string& more = "") const {
    std::ofstream(folder / "agent.toml")
        << "rootUrl = \"" << (root_url.empty() ? host.address().url : root_url)
        << "\"\nworkerPoolId = \"rack/build\"\nproviderId = \"rack\"\nworkerGroup = \"row\"\n"
        << "workerId = \"machine\"\nfolder = \"state\"\n[identity]\nkind = \"staticSecret\"\n"
        << "secretFile = \"secret\"\n[timings]\nretryMin = \"50ms\"\nretryMax = \"200ms\"\n"
        << "requestTimeout = \"10s\"\n"
        << more << "[worker]\nstopGrace = \"10s\"\n"
        << "command = [\"" << (folder / "worker").string() << "\"]\n";
    write_worker(
        "trap 'echo \"worker told to end\"; exit 0' TERM\n"
        "trap '. \"$MUSTER_ENVIRONMENT_FILE\"; echo \"worker has $VALUE\"' HUP\n"
        "echo idle >\"$MUSTER_REPORTS\"\necho \"worker runs with $VALUE\"\n"
        "while :; do sleep 1000 & wait $!; done\n");
  }

  void write_worker(const std::string& script) const {
    std::ofstream(folder / "worker") << "#!/bin/sh\n" << script;
    ::chmod((folder / "worker").c_str(), 0700);
  }

  std::unique_ptr<Process> start(const Variables& variables = {}) const {
    return std::make_unique<Process>(
        "muster-agent", std::vector<std::string>{"--config", (folder / "agent.toml").string()},
        variables);
  }

  pid_t worker_pid() const {
    pid_t pid = 0;
    std::ifstream(folder / "state/worker.pid") >> pid;
    return pid;
  }
  std::string worker_state() const {
    const auto answer = host.client().get(worker_path);
    return answer ? std::string(answer->at("state").as_string()) : "gone";
  }
  std::string errors() const {
    const auto answer = host.client().get(api + "/worker-pool-errors/rack%2Fbuild");
    return answer ? json::write(*answer) : answer.error().message;
  }

  static void ok(const Result<json::value>& answer) {
    if (!answer) throw std::runtime_error(answer.error().message);
  }

  Musterd host{"[providers.rack]\nplugin = \"provider/static\"\n", {}, MUSTER_SHIPPED_PLUGINS};
  TemporaryFolder folder;
  std::string secret;

 private:
  bool made_ = false;
};

TEST(AgentProgram, says_how_it_is_used_and_what_is_wrong_with_its_configuration) {
  EXPECT_EQ(run("muster-agent", {"--nonsense"}).exit_code, 2);
  EXPECT_EQ(run("muster-agent", {"--config"}).exit_code, 2);
  EXPECT_EQ(run("muster-agent", {"--check", "--detach"}).exit_code, 2);
  EXPECT_THAT(run("muster-agent", {"--help"}).output, HasSubstr("Exit codes:"));
  EXPECT_EQ(run("muster-agent", {"--version"}).exit_code, 0);
  const TemporaryFolder folder;
  std::ofstream(folder / "agent.toml") << "folder = 3\n";
  const auto checked =
      run("muster-agent", {"--check", "--config", (folder / "agent.toml").string()});
  EXPECT_EQ(checked.exit_code, 3);
  EXPECT_THAT(checked.output, AllOf(HasSubstr("agent.toml:1:1: error: folder:"),
                                    HasSubstr("identity: this must be said")));
}

TEST_F(Machine, with_a_wrong_secret_is_never_registered_and_does_not_show_it) {
  announce();
  const std::string wrong = "hunter2" + secret.substr(7);
  write_secret(wrong);
  const auto agent = start();
  EXPECT_EQ(agent->exit_code(), 23);
  EXPECT_THAT(agent->output(), AllOf(HasSubstr("not registered: HTTP 400"), Not(HasSubstr(wrong))));
}

TEST_F(Machine, that_nobody_announced_gives_up_after_its_timeout) {
  announce();
  ok(host.client().remove(worker_path));
  configure("http://127.0.0.1:1", "registrationTimeout = \"300ms\"\n");
  EXPECT_EQ(start()->exit_code(), 23);
}

TEST_F(Machine, registers_runs_its_worker_and_is_removed_when_it_is_stopped) {
  announce();
  const auto agent = start();
  agent->wait_for("worker runs with first");
  struct stat status {};
  ASSERT_EQ(::stat((folder / "state/credentials.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(worker_state(), "running");
  const pid_t worker = worker_pid();
  EXPECT_EQ(::getpgid(worker), worker);
  // No secret is where others could see it.
  const std::string arguments = content_of("/proc/" + std::to_string(agent->pid()) + "/cmdline") +
                                content_of("/proc/" + std::to_string(worker) + "/cmdline");
  const auto credentials = json::parse_object(content_of(folder / "state/credentials.json"));
  const std::string token(credentials->at("accessToken").as_string());
  agent->signal(SIGTERM);
  EXPECT_EQ(agent->exit_code(), 0);
  EXPECT_THAT(agent->output(), HasSubstr("worker told to end"));
  for (const std::string& hidden : {secret, token}) {
    EXPECT_THAT(arguments, Not(HasSubstr(hidden)));
    EXPECT_THAT(agent->output(), Not(HasSubstr(hidden)));
  }
  EXPECT_FALSE(lives(worker));
  EXPECT_NE(worker_state(), "running");
  EXPECT_FALSE(std::filesystem::exists(folder / "state/credentials.json"));
}

TEST_F(Machine, whose_worker_hangs_is_stopped_by_a_second_signal) {
  announce();
  write_worker(
      "trap 'echo \"worker ignores it\"' TERM\necho started\nwhile :; do sleep 1000 & wait $!; "
      "done\n");
  const auto agent = start();
  agent->wait_for("started");
  const pid_t worker = worker_pid();
  agent->signal(SIGTERM);
  agent->wait_for("worker ignores it");
  agent->signal(SIGTERM);
  EXPECT_EQ(agent->exit_code(), 0);
  EXPECT_FALSE(lives(worker));
}

TEST_F(Machine, renews_in_time_and_hands_on_what_was_changed_meanwhile) {
  announce(4);
  const auto agent = start();
  agent->wait_for("worker runs with first");
  set_pool(4, "second");
  agent->wait_for("worker has second");
  agent->wait_for("\"message\":\"renewed\"");
  EXPECT_EQ(worker_state(), "running");
}

TEST_F(Machine, whose_worker_fails_says_so_to_the_host) {
  announce();
  write_worker(
      "echo 'error {\"title\": \"no graphics\", \"description\": \"d\"}' "
      ">\"$MUSTER_REPORTS\"\nexit 7\n");
  const auto agent = start();
  EXPECT_EQ(agent->exit_code(), 10);
  EXPECT_THAT(errors(), AllOf(HasSubstr("no graphics"), HasSubstr("The worker failed: status 7.")));
  EXPECT_NE(worker_state(), "running");
}

TEST_F(Machine, whose_worker_cannot_be_run_or_ends_well) {
  announce();
  write_worker("exit 0\n");
  EXPECT_EQ(start()->exit_code(), 0);
  ::chmod((folder / "worker").c_str(), 0600);
  EXPECT_EQ(start()->exit_code(), 3);
}

TEST_F(Machine, that_is_no_longer_wanted_ends_with_the_code_for_it) {
  announce();
  const auto agent = start();
  agent->wait_for("worker runs");
  ok(host.client().remove(worker_path));
  agent->signal(SIGHUP);  // renews now
  EXPECT_EQ(agent->exit_code(), 20);
  EXPECT_THAT(agent->output(), AllOf(HasSubstr("HTTP 410"), HasSubstr("worker told to end")));
}

TEST_F(Machine, that_never_hears_the_answer_to_a_renewal_renews_again) {
  announce();
  std::atomic<int> renewals = 0;
  const std::uint16_t port = host.port();
  const ScriptedServer proxy([&](const std::string& request) -> std::string {
    RawClient upstream(port);
    upstream.send(request);
    const std::string answer = upstream.read_all();
    const bool renewal = request.find("/worker/reregister ") != std::string::npos;
    return renewal && ++renewals <= 2 ? "" : answer;  // the host has answered, and nobody heard it
  });
  configure(proxy.url());
  const auto agent = start();
  agent->wait_for("worker runs");
  agent->signal(SIGHUP);
  agent->wait_for("\"message\":\"renewed\"");
  EXPECT_EQ(renewals, 3);
  agent->signal(SIGHUP);  // and the secret of that answer is good, too
  agent->wait_for("worker has first");
  EXPECT_TRUE(eventually([&] { return renewals == 4; }));
  agent->signal(SIGTERM);
  EXPECT_EQ(agent->exit_code(), 0);
}

TEST_F(Machine, that_cannot_reach_its_host_until_its_credentials_are_over_stops_its_worker) {
  announce(3);
  const auto agent = start();
  agent->wait_for("worker runs");
  const pid_t worker = worker_pid();
  host.kill();
  EXPECT_EQ(agent->exit_code(), 24);
  EXPECT_THAT(agent->output(), AllOf(HasSubstr("not renewed"), HasSubstr("worker told to end")));
  EXPECT_FALSE(lives(worker));
}

TEST_F(Machine, survives_a_restart_of_its_host) {
  announce(4);
  host.keep_port();
  const auto agent = start();
  agent->wait_for("worker runs");
  host.kill();
  agent->wait_for("not renewed");
  host.start();
  agent->wait_for("\"message\":\"renewed\"");
}

TEST_F(Machine, whose_clock_is_wrong_goes_by_the_hosts) {
  announce(4);
  for (const char* skew : {"7200", "-7200"}) {
    const auto agent = start({{"LD_PRELOAD", MUSTER_SKEWED_CLOCK}, {"MUSTER_TEST_SKEW", skew}});
    agent->wait_for("this machine's clock is wrong");
    agent->wait_for("\"message\":\"renewed\"");
    agent->signal(SIGKILL);
    agent->exit_code();
  }
}

TEST_F(Machine, whose_agent_is_killed_loses_its_worker_and_can_come_back) {
  announce();
  auto agent = start();
  agent->wait_for("worker runs");
  const pid_t worker = worker_pid();
  agent->signal(SIGKILL);
  EXPECT_EQ(agent->exit_code(), 128 + SIGKILL);
  EXPECT_TRUE(eventually([&] { return !lives(worker); }));
  agent = start();
  agent->wait_for("worker runs");
  EXPECT_NE(worker_pid(), worker);
}

TEST_F(Machine, whose_disk_is_full_says_so_and_ends) {
  announce();
  const std::string program = std::string(MUSTER_PROGRAMS) + "/muster-agent";
  Process agent("/bin/bash", {"-c", "ulimit -f 1; exec \"$0\" --config \"$1\"", program,
                              (folder / "agent.toml").string()});
  EXPECT_EQ(agent.exit_code(), 21);
  EXPECT_THAT(errors(), HasSubstr("could not write the worker's configuration"));
  EXPECT_NE(worker_state(), "running");
}

TEST_F(Machine, goes_to_the_background_once_its_folder_is_its_own) {
  announce();
  const std::vector<std::string> arguments{"--detach", "--config",
                                           (folder / "agent.toml").string()};
  EXPECT_EQ(run("muster-agent", arguments).exit_code, 0);
  pid_t agent = 0;
  std::ifstream(folder / "state/lock") >> agent;
  ASSERT_TRUE(lives(agent));
  const auto second = run("muster-agent", arguments);
  EXPECT_EQ(second.exit_code, 3);
  EXPECT_THAT(second.output, HasSubstr("another agent (process " + std::to_string(agent) + ")"));
  const std::filesystem::path log = folder / "state/agent.log";
  EXPECT_TRUE(eventually([&] { return content_of(log).find("worker runs") != std::string::npos; }));
  ::kill(agent, SIGTERM);
  EXPECT_TRUE(eventually([&] {
    return content_of(log).find("\"exitCode\":0") != std::string::npos && !lives(agent);
  }));
}

// The example worker with a folder of tasks.
TEST_F(Machine, runs_the_example_worker) {
  announce();
  const std::filesystem::path tasks = folder / "tasks";
  std::filesystem::create_directories(tasks);
  std::ofstream(tasks / "good.task") << "echo hello from $MUSTER_WORKER_ID\n";
  std::ofstream(tasks / "bad.task") << "echo oops; exit 3\n";
  write_worker("exec " MUSTER_SOURCE "/agent/example-worker.sh\n");
  const auto agent = start({{"MUSTER_TASKS", tasks.string()}});
  EXPECT_TRUE(eventually([&] {
    return std::filesystem::exists(tasks / "done/good.log") &&
           std::filesystem::exists(tasks / "done/bad.log");
  }));
  EXPECT_EQ(content_of(tasks / "done/good.log"), "hello from machine\nexit code 0\n");
  EXPECT_EQ(content_of(tasks / "done/bad.log"), "oops\nexit code 3\n");
  // One that is stopped gives its task back.
  std::ofstream(tasks / "long.task") << "sleep 1000\n";
  EXPECT_TRUE(
      eventually([&] { return std::filesystem::exists(tasks / "claimed/long.task.machine"); }));
  agent->signal(SIGTERM);
  EXPECT_EQ(agent->exit_code(), 0);
  EXPECT_TRUE(std::filesystem::exists(tasks / "long.task"));
  EXPECT_FALSE(std::filesystem::exists(tasks / "claimed/long.task.machine"));
}

}  // namespace
}  // namespace muster::testing
