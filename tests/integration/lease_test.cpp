// `muster lease`: what becomes of the command, of its exit code and of its worker, whatever ends.
#include <csignal>
#include <fstream>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/queue_host.hpp"

namespace muster::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int no_worker_in_time = 75;
const Variables no_host{{"MUSTER_URL", "http://127.0.0.1:1"}, {"MUSTER_TOKEN", "x"}};

std::vector<std::string> lease(std::vector<std::string> options,
                               const std::vector<std::string>& command) {
  options.insert(options.begin(), "lease");
  options.emplace_back("--");
  options.insert(options.end(), command.begin(), command.end());
  return options;
}

std::vector<std::string> shell(const std::string& script) {
  return {"/bin/sh", "-c", script};
}

// A command that says that it runs, and ends when the test lets it.
class Gate {
 public:
  Gate() { EXPECT_EQ(::mkfifo(file_.c_str(), 0600), 0); }
  std::string wait() const { return "read line < " + file_.string(); }
  void open() const { std::ofstream(file_) << "go\n"; }

 private:
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "gate";
};

// -------------------------------------------------------------------------------------------------
// Without a host

TEST(LeaseCommand, that_is_wrong_is_refused_before_anybody_is_asked) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{"--wait", "10x"}, "--wait 10x is not a duration"},
      {{"--wait", "0s"}, "--wait 0s is not a duration"},
      {{"--wait", "-5m"}, "--wait -5m is not a duration"},
      {{"--wait", "99999999999d"}, "is not a duration"},
      {{"--heartbeat", "soon"}, "--heartbeat soon is not a duration"},
      {{"--resource", "memory"}, "--resource memory is not a resource"},
      {{"--resource", "=4"}, "--resource =4 is not a resource"},
      {{"--resource", "memory=-1"}, "is not a resource"},
      {{"--resource", "memory=1.5"}, "is not a resource"},
      {{"--resource", "memory=99999999999999999999"}, "is not a resource"},
      {{"--resource", "memory=1", "--resource", "memory=2"}, "memory is given twice"},
  };
  for (const auto& [options, message] : wrong) {
    const Finished done = run("muster", lease(options, {"true"}), no_host);
    EXPECT_EQ(done.exit_code, 2) << message;
    EXPECT_THAT(done.output, AllOf(HasSubstr(message), Not(HasSubstr("cannot be"))));
  }
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"lease"},
        {"lease", "--"},
        {"lease", "--strategy", "best", "--", "true"},
        {"lease", "--pool", "build", "--tag", "x", "--", "true"},
        {"lease", "--priority", "high", "--", "true"}})
    EXPECT_EQ(run("muster", options, no_host).exit_code, 2) << options.back();
}

TEST(LeaseCommand, gives_up_in_time_although_there_is_no_host) {
  const Finished done = run("muster", lease({"--wait", "1s"}, {"true"}), no_host);
  EXPECT_EQ(done.exit_code, no_worker_in_time);
  EXPECT_THAT(done.output, HasSubstr("no worker within 1s; the host does not answer"));
}

// -------------------------------------------------------------------------------------------------
// With a host that has one worker

class Lease : public ::testing::Test {
 protected:
  Finished leased(const std::vector<std::string>& command,
                  const std::vector<std::string>& options = {}) const {
    return host_.muster(lease(options, command));
  }
  std::unique_ptr<Process> start(const std::vector<std::string>& command,
                                 const std::vector<std::string>& options = {}) const {
    return std::make_unique<Process>("muster", lease(options, command), host_.variables());
  }
  // Through a shell, where muster is `$MUSTER`.
  Finished in_shell(const std::string& script) const {
    Variables variables = host_.variables();
    variables["MUSTER"] = (std::filesystem::path(MUSTER_PROGRAMS) / "muster").string();
    return run("/bin/sh", {"-c", script}, variables);
  }

  QueueHost host_{1};
};

TEST_F(Lease, passes_the_end_of_the_command_on) {
  EXPECT_EQ(leased({"true"}).exit_code, 0);
  EXPECT_EQ(leased(shell("exit 7")).exit_code, 7);
  EXPECT_EQ(leased(shell("kill -KILL $$")).exit_code, 128 + SIGKILL);
  EXPECT_EQ(leased(shell("kill -TERM $$")).exit_code, 128 + SIGTERM);
  EXPECT_EQ(leased({"/no/such/program"}).exit_code, 127);
  EXPECT_EQ(leased({"no-such-program"}).exit_code, 127);
  const Finished folder = leased({"/"});
  EXPECT_EQ(folder.exit_code, 126);
  EXPECT_THAT(folder.output, HasSubstr("muster: / cannot be run: "));
  EXPECT_EQ(in_shell("trap '' CHLD; exec $MUSTER lease -- sh -c 'exit 7'").exit_code, 7)
      << "also where children are ignored";
  EXPECT_EQ(host_.used(), 0);
}

TEST_F(Lease, tells_the_command_its_worker) {
  const Finished done = leased({"env"});
  const json::value worker = host_.workers().at(0);
  for (const auto& [name, value] :
       {std::pair<std::string, std::string>("WORKER_POOL_ID", "worker-manager/build"),
        {"WORKER_GROUP", worker.at("workerGroup").as_string().c_str()},
        {"WORKER_ID", worker.at("workerId").as_string().c_str()},
        {"WORKER_PROVIDER_ID", "sim"},
        {"WORKER_CAPACITY", "1"}})
    EXPECT_THAT(done.output, HasSubstr("MUSTER_" + name + "=" + value + "\n"));
  EXPECT_THAT(done.output, HasSubstr("MUSTER_REQUEST_ID="));
}

TEST_F(Lease, says_which_request_it_is) {
  const Finished plain = in_shell("$MUSTER lease -- sh -c 'echo id $MUSTER_REQUEST_ID' 2>&1");
  const std::string id = plain.output.substr(plain.output.rfind("id ") + 3);
  EXPECT_TRUE(plain.output.starts_with("muster: request " + id.substr(0, id.size() - 1) +
                                       " of team main\n"))
      << plain.output;
  const Finished json = in_shell("$MUSTER lease --json -- true 2>&1 >/dev/null | tail -n 1");
  const auto held = json::parse_object(json.output);
  ASSERT_TRUE(held) << json.output;
  EXPECT_EQ(held->at("state"), "held");
}

TEST_F(Lease, leaves_what_the_command_reads_and_writes_alone) {
  EXPECT_EQ(in_shell("echo words | $MUSTER lease -- cat 2>/dev/null").output, "words\n");
  EXPECT_THAT(in_shell("script -qec '$MUSTER lease -- tty' /dev/null").output,
              HasSubstr("/dev/pts/"));
  EXPECT_EQ(
      in_shell("$MUSTER lease -- sh -c 'echo /proc/self/fd/*' < /dev/null 2>/dev/null").output,
      in_shell("sh -c 'echo /proc/self/fd/*' < /dev/null 2>/dev/null").output)
      << "no file of ours stays open";
  const std::string signals = "grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status";
  EXPECT_EQ(in_shell("$MUSTER lease -- " + signals + " 2>/dev/null").output,
            in_shell(signals).output);
}

TEST_F(Lease, asks_for_what_the_options_say) {
  const auto waits = start(
      {"true"}, {"--tag", "linux", "--tag", "gpu", "--resource", "memory=16", "--priority", "3"});
  waits->wait_for("blocked");
  const json::value request =
      host_.client().get(queue_api + "teams/main/requests")->at("requests").at(0);
  EXPECT_EQ(request.at("tags"), (json::array{"gpu", "linux"}));
  EXPECT_EQ(request.at("resources"), (json::object{{"active-task", 1}, {"memory", 16}}));
  EXPECT_EQ(request.at("priority"), 3);
}

TEST_F(Lease, gives_up_in_time_says_why_and_asks_no_longer) {
  const Finished done = leased({"true"}, {"--tag", "gpu", "--wait", "1s"});
  EXPECT_EQ(done.exit_code, no_worker_in_time);
  EXPECT_THAT(done.output, HasSubstr("muster: no worker within 1s; blocked: "));
  EXPECT_EQ(host_.waiting(), 0);
}

TEST_F(Lease, of_a_pool_that_is_not_there_says_so) {
  const Finished done = leased({"true"}, {"--pool", "nosuch", "--wait", "1s"});
  EXPECT_EQ(done.exit_code, no_worker_in_time);
  EXPECT_THAT(done.output, HasSubstr("there is no worker pool worker-manager/nosuch"));
}

TEST_F(Lease, that_waits_is_cancelled_by_a_signal) {
  host_.hold_one();
  std::map<int, std::unique_ptr<Process>> waiting;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) waiting[signal] = start({"true"});
  for (const auto& [signal, process] : waiting) process->wait_for("waiting: ");
  EXPECT_EQ(host_.waiting(), 3);
  for (const auto& [signal, process] : waiting) process->signal(signal);
  for (const auto& [signal, process] : waiting) EXPECT_EQ(process->exit_code(), 128 + signal);
  EXPECT_EQ(host_.waiting(), 0);
}

TEST_F(Lease, that_runs_passes_a_signal_on_and_keeps_its_worker_until_the_command_has_ended) {
  for (const auto& [name, signal] :
       {std::pair("INT", SIGINT), {"TERM", SIGTERM}, {"HUP", SIGHUP}, {"QUIT", SIGQUIT}}) {
    const Gate gate, forever;
    const auto runs = start(shell("trap 'echo ending; " + gate.wait() + "; exit 3' " + name +
                                  "; echo started; " + forever.wait()));
    runs->wait_for("started");
    runs->signal(signal);
    runs->wait_for("ending");
    EXPECT_EQ(host_.used(), 1);
    gate.open();
    EXPECT_EQ(runs->exit_code(), 3) << name;
    EXPECT_EQ(host_.used(), 0);
  }
}

TEST_F(Lease, heeds_no_signal_that_its_parent_wants_ignored) {
  const Gate gate;
  Variables variables = host_.variables();
  variables["MUSTER"] = (std::filesystem::path(MUSTER_PROGRAMS) / "muster").string();
  Process runs(
      "/bin/sh",
      {"-c", "trap '' HUP; exec $MUSTER lease -- sh -c 'echo started; " + gate.wait() + "'"},
      variables);
  runs.wait_for("started");
  runs.signal(SIGHUP);
  gate.open();
  EXPECT_EQ(runs.exit_code(), 0);
}

TEST_F(Lease, goes_on_waiting_when_the_host_is_killed) {
  host_.host().keep_port();
  const std::string holder = host_.hold_one();
  const auto waits = start(shell("echo on $MUSTER_WORKER_ID; exit 5"));
  waits->wait_for("waiting: ");
  host_.host().kill();
  waits->wait_for("the host does not answer");
  host_.host().start();
  EXPECT_TRUE(eventually([&] { return host_.client().remove(holder).has_value(); }));
  EXPECT_EQ(waits->exit_code(), 5) << waits->output();
  EXPECT_EQ(host_.waiting(), 0);
}

TEST_F(Lease, keeps_its_worker_when_the_host_is_killed) {
  host_.host().keep_port();
  const Gate gate;
  const auto runs =
      start(shell("echo started; " + gate.wait() + "; exit 5"), {"--heartbeat", "5s"});
  runs->wait_for("started");
  host_.host().kill();
  host_.host().start();
  EXPECT_TRUE(eventually([&] { return host_.used() == 1; }));
  gate.open();
  EXPECT_EQ(runs->exit_code(), 5) << runs->output();
  EXPECT_EQ(host_.used(), 0);
}

TEST_F(Lease, gives_its_worker_back_to_a_host_that_was_down_when_the_command_ended) {
  host_.host().keep_port();
  const Gate gate;
  const auto runs = start(shell("echo started; " + gate.wait() + "; echo over; exit 5"));
  runs->wait_for("started");
  host_.host().kill();
  gate.open();
  runs->wait_for("over");
  host_.host().start();
  EXPECT_EQ(runs->exit_code(), 5);
  EXPECT_EQ(host_.used(), 0);
}

TEST_F(Lease, ends_its_command_when_the_worker_is_lost) {
  const Gate forever;
  const auto runs = start(shell("echo started; " + forever.wait()), {"--heartbeat", "5s"});
  runs->wait_for("started");
  const json::value worker = host_.workers().at(0);
  ASSERT_TRUE(host_.client().remove("/api/worker-manager/v1/workers/worker-manager%2Fbuild/" +
                                    std::string(worker.at("workerGroup").as_string()) + "/" +
                                    std::string(worker.at("workerId").as_string())));
  EXPECT_EQ(runs->exit_code(), 128 + SIGTERM);
  EXPECT_THAT(runs->output(), HasSubstr("muster: lost the worker: "));
}

TEST_F(Lease, that_is_killed_ends_its_command_and_the_host_takes_the_worker_back) {
  const Gate forever;
  const auto runs = start(shell("echo started; " + forever.wait()), {"--heartbeat", "5s"});
  runs->wait_for("started");
  runs->signal(SIGKILL);
  EXPECT_EQ(runs->exit_code(), 128 + SIGKILL) << "nobody holds its output open any more";
  EXPECT_TRUE(eventually([&] { return host_.used() == 0; }));
}

}  // namespace
}  // namespace muster::testing
