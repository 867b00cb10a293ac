// muster-agent when something goes wrong: lost answers, hosts out of reach, clocks, full disks,
// kills.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/agent_machine.hpp"
#include "tests/integration/preloads.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/raw_client.hpp"
#include "tests/support/scripted_server.hpp"

namespace muster::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class MachineInTrouble : public Machine {
 protected:
  // Stands between the agent and its host. `answer` may change what the host has answered.
  using Change = std::function<std::string(const std::string& request, std::string answer)>;
  std::unique_ptr<ScriptedServer> proxy(Change change) const {
    return std::make_unique<ScriptedServer>([port = host.port(), change](const std::string& asked) {
      RawClient upstream(port);
      upstream.send(asked);
      return change(asked, upstream.read_all());
    });
  }

  // Files in the agent's folder that show the worker's access token.
  std::vector<std::string> secrets() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "state"))
      if (entry.is_regular_file()) {
        const std::string text = content_of(entry.path());
        if (text.find("accessToken") != text.npos || text.find("ACCESS_TOKEN") != text.npos ||
            text.find("secret") != text.npos)
          names.push_back(entry.path().filename());
      }
    return names;
  }

  static pid_t guard_of(pid_t agent) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string number = entry.path().filename().string();
      if (number.find_first_not_of("0123456789") != std::string::npos) continue;
      const std::string status = content_of(entry.path() / "stat");
      if (status.find("(muster-guard) ") == std::string::npos ||
          status.find("(muster-guard) Z") != std::string::npos)
        continue;
      const std::string parent = status.substr(status.rfind(')') + 4);
      if (std::stoi(parent) == agent) return std::stoi(number);
    }
    return 0;
  }
};

bool is_for(const std::string& request, const char* path) {
  return request.find(std::string(path) + " HTTP/1.1\r\n") < request.find("\r\n");
}

// How to run a program with mounts of its own: as the root of a user namespace where those are
// allowed, so that nobody needs to be root, and else as the real one. Empty: neither can be.
std::vector<std::string> with_own_mounts() {
  for (const std::vector<std::string>& way :
       {std::vector<std::string>{"--user", "--map-root-user", "--mount"}, {"--mount"}}) {
    std::vector<std::string> probe = way;
    probe.insert(probe.end(), {"/bin/mount", "-t", "tmpfs", "tmpfs", "/mnt"});
    if (run("/usr/bin/unshare", probe).exit_code == 0) return way;
  }
  return {};
}

TEST_F(MachineInTrouble, that_never_hears_the_answer_to_a_renewal_renews_again) {
  announce();
  std::atomic<int> renewals = 0;
  const auto between = proxy([&](const std::string& request, std::string answer) {
    const bool renewal = is_for(request, "/worker/reregister");
    return renewal && ++renewals <= 2 ? "" : answer;  // the host has answered, and nobody heard it
  });
  configure(between->url());
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

TEST_F(MachineInTrouble, that_never_hears_the_answer_to_its_registration_registers_again) {
  announce();
  std::atomic<int> registrations = 0;
  const auto between = proxy([&](const std::string& request, std::string answer) {
    return is_for(request, "/worker/register") && ++registrations == 1 ? "" : answer;
  });
  configure(between->url());
  const auto agent = start();
  agent->wait_for("worker runs");
  EXPECT_EQ(registrations, 2);
  agent->signal(SIGHUP);
  agent->wait_for("\"message\":\"renewed\"");
}

TEST_F(MachineInTrouble, whose_renewal_is_refused_says_that_it_could_not_be_refreshed) {
  announce();
  std::atomic<int> registrations = 0;
  const auto between = proxy([&](const std::string& request, std::string answer) {
    const bool renews = is_for(request, "/worker/reregister");
    const bool registers = is_for(request, "/worker/register");
    if (!renews && (!registers || ++registrations == 1)) return answer;
    return ScriptedServer::with_status("403 Forbidden", R"({"code": "InsufficientScopes"})");
  });
  configure(between->url());
  const auto agent = start();
  agent->wait_for("worker runs");
  agent->signal(SIGHUP);
  EXPECT_EQ(agent->exit_code(), 21);
  EXPECT_THAT(agent->output(), AllOf(HasSubstr("not renewed: HTTP 403 InsufficientScopes"),
                                     HasSubstr("worker told to end")));
}

TEST_F(MachineInTrouble, that_is_stopped_before_it_could_register_ends_well) {
  announce();
  configure("http://127.0.0.1:1");
  const auto agent = start();
  agent->wait_for("not registered");
  agent->signal(SIGTERM);
  EXPECT_EQ(agent->exit_code(), 0);
}

TEST_F(MachineInTrouble,
       that_cannot_reach_its_host_until_its_credentials_are_over_stops_its_worker) {
  announce(3);
  const auto agent = start();
  agent->wait_for("worker runs");
  const pid_t worker = worker_pid();
  host.kill();
  EXPECT_EQ(agent->exit_code(), 24);
  EXPECT_THAT(agent->output(), AllOf(HasSubstr("not renewed"), HasSubstr("worker told to end")));
  EXPECT_FALSE(lives(worker));
}

TEST_F(MachineInTrouble, survives_a_restart_of_its_host) {
  announce(4);
  host.keep_port();
  const auto agent = start();
  agent->wait_for("worker runs");
  host.kill();
  agent->wait_for("not renewed");
  host.start();
  agent->wait_for("\"message\":\"renewed\"");
}

TEST_F(MachineInTrouble, whose_clock_is_wrong_goes_by_the_hosts) {
  announce(4);
  for (const char* skew : {"7200", "-7200"}) {
    const auto agent = start(with_clock("MUSTER_TEST_SKEW", skew));
    agent->wait_for("this machine's clock is wrong");
    agent->wait_for("\"message\":\"renewed\"");
    agent->signal(SIGKILL);
    agent->exit_code();
  }
}

TEST_F(MachineInTrouble, whose_clock_jumps_asks_its_host_at_once) {
  announce();
  const std::filesystem::path skew = folder / "skew";
  std::ofstream(skew) << "0";
  const auto agent = start(with_clock("MUSTER_TEST_SKEW_FILE", skew.string()));
  agent->wait_for("worker runs");
  std::ofstream(skew) << "7200";
  std::ofstream(folder / "state/reports") << "busy 1\n";  // so that it looks at its clock
  agent->wait_for("the clock has jumped");
  agent->wait_for("\"message\":\"renewed\"");
  agent->signal(SIGTERM);
  EXPECT_EQ(agent->exit_code(), 0);
}

// The host's clock is set while a machine's is not.
class MachineOfAWrongClock : ClockFile, public Machine {
 protected:
  MachineOfAWrongClock() : Machine(variables()) {}
  using ClockFile::set_clock;
};

TEST_F(MachineOfAWrongClock, renews_its_credentials_although_they_have_expired_by_that_clock) {
  announce(60);
  const auto agent = start();
  agent->wait_for("worker runs");
  const pid_t worker = worker_pid();
  std::string expires;
  const auto renewed = [&] {
    std::ifstream file(folder / "state/credentials.json");
    const auto credentials = json::parse_object(std::string{std::istreambuf_iterator(file), {}});
    if (!credentials || credentials->at("expires").as_string() == expires) return false;
    expires = credentials->at("expires").as_string();
    return true;
  };
  ASSERT_TRUE(eventually(renewed));
  for (const int ahead : {3600, 0}) {
    set_clock(ahead);
    agent->signal(SIGHUP);
    EXPECT_TRUE(eventually(renewed)) << ahead << agent->output();
    EXPECT_EQ(worker_state(), "running") << ahead;
    EXPECT_EQ(worker_pid(), worker) << ahead;
  }
  agent->signal(SIGTERM);
  EXPECT_EQ(agent->exit_code(), 0);
  EXPECT_THAT(agent->output(), Not(HasSubstr("not renewed"))) << "it need not register anew";
}

TEST_F(MachineInTrouble, whose_worker_is_killed_says_so_to_the_host) {
  announce();
  const auto agent = start();
  agent->wait_for("worker runs");
  ::kill(worker_pid(), SIGKILL);
  EXPECT_EQ(agent->exit_code(), 10);
  EXPECT_THAT(errors(), HasSubstr("The worker failed: signal 9 (Killed)."));
}

TEST_F(MachineInTrouble, whose_agent_is_killed_loses_its_worker_and_can_come_back) {
  announce();
  auto agent = start();
  agent->wait_for("worker runs");
  const pid_t worker = worker_pid();
  agent->signal(SIGKILL);
  EXPECT_EQ(agent->exit_code(), 128 + SIGKILL);
  EXPECT_TRUE(eventually([&] { return !lives(worker); }));
  EXPECT_TRUE(eventually([&] { return secrets().empty(); })) << "its guard removes them";
  agent = start();
  agent->wait_for("worker runs");
  EXPECT_NE(worker_pid(), worker);
  EXPECT_THAT(secrets(), SizeIs(2));
}

TEST_F(MachineInTrouble, whose_guard_is_killed_has_another_one) {
  announce();
  const auto agent = start();
  agent->wait_for("worker runs");
  const pid_t first = guard_of(agent->pid());
  ASSERT_GT(first, 0);
  ::kill(first, SIGKILL);
  ASSERT_TRUE(eventually([&] {
    const pid_t now = guard_of(agent->pid());
    return now > 0 && now != first;
  }));
  const pid_t worker = worker_pid();
  agent->signal(SIGKILL);
  agent->exit_code();
  EXPECT_TRUE(eventually([&] { return !lives(worker) && secrets().empty(); }));
}

TEST_F(MachineInTrouble, whose_agent_and_guard_are_killed_has_no_old_secret_after_the_next_start) {
  announce();
  auto agent = start();
  agent->wait_for("worker runs");
  const pid_t guard = guard_of(agent->pid());
  const pid_t worker = worker_pid();
  agent->signal(SIGSTOP);  // it must not start another guard
  ::kill(guard, SIGKILL);
  agent->signal(SIGKILL);
  ::kill(-worker, SIGKILL);  // as nobody else does: it holds the agent's output
  agent->exit_code();
  EXPECT_THAT(secrets(), SizeIs(2)) << "nobody was left to remove them";
  std::ofstream(folder / "state/.credentials.json.Ab12cd") << "half of what is secret";
  configure("http://127.0.0.1:1", "registrationTimeout = \"100ms\"\n");
  EXPECT_EQ(start()->exit_code(), 23);
  EXPECT_THAT(secrets(), IsEmpty());
}

TEST_F(MachineInTrouble, leaves_out_variables_that_change_programs_also_when_it_renews) {
  const auto pool_with = [&](const char* name, const char* value) {
    ok(host.client().post(
        api + "/worker-pool/rack%2Fbuild",
        {{"providerId", "rack"},
         {"owner", "lab@example.com"},
         {"description", ""},
         {"emailOnError", false},
         {"config",
          json::object{
              {"lifecycle", json::object{{"reregistrationTimeout", 4}}},
              {"workerConfig",
               json::object{{"environment", json::object{{name, value}, {"VALUE", value}}}}}}}}));
  };
  announce(4);
  pool_with("IFS", "early");
  const auto agent = start();
  agent->wait_for("worker runs with early");
  pool_with("LD_PRELOAD", "later");
  agent->wait_for("worker has later");
  const std::string variables = content_of(folder / "state/environment.sh");
  EXPECT_THAT(variables, AllOf(HasSubstr("VALUE='later'"), Not(HasSubstr("LD_PRELOAD"))));
  EXPECT_THAT(content_of("/proc/" + std::to_string(worker_pid()) + "/environ"),
              Not(HasSubstr("IFS=")));
  EXPECT_THAT(agent->output(), AllOf(HasSubstr("workerConfig.environment.IFS"),
                                     HasSubstr("workerConfig.environment.LD_PRELOAD")));
}

TEST_F(MachineInTrouble, whose_disk_is_full_says_so_and_ends) {
  announce();
  const std::string program = std::string(MUSTER_PROGRAMS) + "/muster-agent";
  Process agent("/bin/bash", {"-c", "ulimit -f 1; exec \"$0\" --config \"$1\"", program,
                              (folder / "agent.toml").string()});
  EXPECT_EQ(agent.exit_code(), 21);
  EXPECT_THAT(errors(), HasSubstr("could not write the worker's configuration"));
}

// A small disk of its own, which the worker fills.
TEST_F(MachineInTrouble, whose_disk_becomes_full_keeps_the_old_files_whole_says_so_and_ends) {
  const std::vector<std::string> own_mounts = with_own_mounts();
  ASSERT_FALSE(own_mounts.empty())
      << "THIS TEST DID NOT RUN: it needs user namespaces, or to be root with mounts of its own";
  announce();
  write_worker(
      "trap 'grep -q accessToken \"$MUSTER_CREDENTIALS_FILE\" && echo \"they are whole\"; exit 0' "
      "TERM\ncat /dev/zero >\"${MUSTER_REPORTS%/*}/ballast\" 2>/dev/null\necho \"the disk is "
      "full\"\n"
      "while :; do sleep 1000 & wait $!; done\n");
  std::filesystem::create_directory(folder / "state");
  std::vector<std::string> arguments = own_mounts;
  arguments.insert(
      arguments.end(),
      {"/bin/sh", "-c",
       "mount -t tmpfs -o size=64k,mode=0700 tmpfs \"$1\" && exec \"$0\" --config \"$2\"",
       std::string(MUSTER_PROGRAMS) + "/muster-agent", (folder / "state").string(),
       (folder / "agent.toml").string()});
  Process agent("/usr/bin/unshare", arguments);
  agent.wait_for("the disk is full");
  agent.signal(SIGHUP);  // renews now
  EXPECT_EQ(agent.exit_code(), 21) << agent.output();
  EXPECT_THAT(agent.output(),
              AllOf(HasSubstr("No space left on device"), HasSubstr("they are whole")));
  EXPECT_THAT(errors(), HasSubstr("could not write the worker's configuration"));
}

}  // namespace
}  // namespace muster::testing
