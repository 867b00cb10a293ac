// muster-agent as a machine runs it, with a real host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/agent_machine.hpp"
#include "tests/support/eventually.hpp"

namespace muster::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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
                                    HasSubstr("identity: this is required")));
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

TEST_F(Machine, that_was_taken_off_the_list_is_told_so_and_starts_nothing) {
  announce();
  ok(host.client().remove(worker_path));
  const auto agent = start();
  EXPECT_EQ(agent->exit_code(), 20);
  EXPECT_THAT(agent->output(), AllOf(HasSubstr("HTTP 410"), Not(HasSubstr("worker runs"))));
}

TEST_F(Machine, can_be_stopped_and_started_again) {
  announce();
  for (int i = 0; i < 2; ++i) {
    const auto agent = start();
    agent->wait_for("worker runs");
    agent->signal(SIGTERM);
    EXPECT_EQ(agent->exit_code(), 0);
    EXPECT_EQ(worker_state(), "running");  // nobody else would announce it again
  }
}

TEST_F(Machine, registers_runs_its_worker_and_is_removed_when_it_is_stopped) {
  top_keys = "removeOnExit = true\n";
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
  write_worker("exit 0\n");
  EXPECT_EQ(start()->exit_code(), 0);
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
  write_worker(  // never idle: so it does not ask whether it should end
      "trap 'echo \"worker told to end\"; exit 0' TERM\necho \"worker runs\"\n"
      "while :; do sleep 1000 & wait $!; done\n");
  const auto agent = start();
  agent->wait_for("worker runs");
  ok(host.client().remove(worker_path));
  agent->signal(SIGHUP);  // renews now
  EXPECT_EQ(agent->exit_code(), 20);
  EXPECT_THAT(agent->output(), AllOf(HasSubstr("HTTP 410"), HasSubstr("worker told to end")));
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
