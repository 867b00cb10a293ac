#include "plugins/provider/static/run_commands.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tests/support/eventually.hpp"
#include "tests/unit/plugins/provider/static/fixture.hpp"

namespace muster::static_machines {
namespace {

using namespace std::chrono_literals;
using How = CommandOutcome::How;
using Commands = std::vector<std::vector<std::string>>;

// A zombie is gone, too: it is another's to bury.
bool is_gone(const std::string& pid) {
  const std::string status = content("/proc/" + pid + "/stat");
  return status.empty() || status.find(") Z ") != std::string::npos;
}

struct StaticCommands : ::testing::Test {
  testing::TemporaryFolder folder;
  testing::FakeContext context;

  ~StaticCommands() override {
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
    EXPECT_EQ(errno, ECHILD);
  }

  CommandOutcome run(const std::string& body, std::chrono::milliseconds timeout = 60s) {
    return run_commands({{script(folder, "script", body)}}, timeout, context).at(0);
  }
  std::string path(const char* name) const { return folder / name; }
};

TEST_F(StaticCommands, a_program_that_is_not_there_fails) {
  const auto outcomes =
      run_commands({{"/no/such/program"}, {"no-such-program-anywhere"}, {path("")}}, 60s, context);
  for (const CommandOutcome& outcome : outcomes) {
    EXPECT_EQ(outcome.how, How::failed);
    EXPECT_TRUE(outcome.words.starts_with("cannot be run: ")) << outcome.words;
  }
}

TEST_F(StaticCommands, one_that_fails_says_how_with_its_last_line) {
  CommandOutcome outcome = run("echo first; echo 'no route to host' >&2; echo; exit 3");
  EXPECT_EQ(outcome.how, How::failed);
  EXPECT_EQ(outcome.words, "ended with 3: no route to host");
  EXPECT_EQ(run("exit 1").words, "ended with 1");
  EXPECT_EQ(run("kill -9 $$").words, "was ended by signal 9");
  EXPECT_EQ(run(R"(printf 'a\033[1mb\377'; exit 1)").words, "ended with 1: a?[1mb?");
  outcome = run("seq 100000; echo the end; exit 1");
  EXPECT_EQ(outcome.words, "ended with 1: the end");
  EXPECT_EQ(run("head -c 100000 /dev/zero | tr '\\0' x; exit 1").words.size(), 214u);
}

TEST_F(StaticCommands, one_that_takes_too_long_is_ended) {
  const CommandOutcome outcome = run("echo $$ > " + path("pid") + "; echo waits; sleep 600", 200ms);
  EXPECT_EQ(outcome.how, How::failed);
  EXPECT_EQ(outcome.words, "took longer than 0.2 s: waits");
  std::string pid = content(folder / "pid");
  pid.pop_back();
  EXPECT_TRUE(is_gone(pid));
}

TEST_F(StaticCommands, one_that_does_not_listen_is_killed) {
  context.set_time_left(2s);  // so that the grace is short
  const CommandOutcome outcome =
      run("trap 'echo will not' TERM; while :; do sleep 0.02; done", 200ms);
  EXPECT_EQ(outcome.how, How::failed);
  EXPECT_EQ(outcome.words, "took longer than 0.2 s: will not");
}

TEST_F(StaticCommands, the_calls_deadline_ends_them_in_time_to_answer) {
  context.set_time_left(500ms);
  const auto begin = std::chrono::steady_clock::now();
  const std::string slow = script(folder, "slow", "sleep 600");
  const auto outcomes = run_commands(Commands(most_at_once + 2, {slow}), 60s, context);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
  EXPECT_EQ(outcomes.front().how, How::failed);
  EXPECT_TRUE(outcomes.front().words.find("call's deadline") != std::string::npos)
      << outcomes.front().words;
  EXPECT_EQ(outcomes.back().how, How::cancelled);
  EXPECT_EQ(outcomes.back().words, "was not begun: the call's time is over");
}

TEST_F(StaticCommands, a_cancelled_call_begins_none_and_ends_those_that_run) {
  const std::string begun = path("begun");
  std::thread canceller([&] {
    testing::eventually([&] { return std::filesystem::exists(begun); });
    context.cancel();
  });
  const CommandOutcome outcome = run("touch " + begun + "; sleep 600");
  canceller.join();
  EXPECT_EQ(outcome.how, How::cancelled);
  std::filesystem::remove(begun);
  EXPECT_EQ(run("touch " + begun).how, How::cancelled);
  EXPECT_FALSE(std::filesystem::exists(begun));
}

TEST_F(StaticCommands, what_one_leaves_behind_in_its_group_is_ended_and_not_waited_for) {
  const CommandOutcome outcome = run("sleep 600 & echo $! > " + path("pid") + "; echo done");
  EXPECT_EQ(outcome.how, How::succeeded);
  std::string pid = content(folder / "pid");
  pid.pop_back();
  EXPECT_TRUE(testing::eventually([&] { return is_gone(pid); }));
}

TEST_F(StaticCommands, they_get_no_descriptor_of_ours_and_nothing_to_read) {
  const int ours = ::fcntl(::open("/dev/null", O_RDONLY | O_CLOEXEC), F_DUPFD, 77);
  const CommandOutcome outcome =
      run("[ ! -e /proc/$$/fd/" + std::to_string(ours) + " ] && [ -z \"$(cat)\" ]");
  ::close(ours);
  EXPECT_EQ(outcome.how, How::succeeded) << outcome.words;
}

TEST_F(StaticCommands, arguments_are_seen_by_no_shell) {
  const std::string show = script(folder, "show", "for a; do echo \"$a\"; done > " + path("seen"));
  run_commands({{show, "$(touch " + path("hacked") + ")", "a b", "", "`id`;*"}}, 60s, context);
  EXPECT_EQ(content(folder / "seen"), "$(touch " + path("hacked") + ")\na b\n\n`id`;*\n");
  EXPECT_FALSE(std::filesystem::exists(folder / "hacked"));
}

// Each waits until another one has begun, which can only be if several run at a time.
TEST_F(StaticCommands, several_run_at_once_but_not_all) {
  const std::string one =
      script(folder, "one",
             "echo + >> " + path("log") + "; while [ $(wc -l < " + path("log") +
                 ") -lt 2 ]; do sleep 0.01; done; sleep 0.02; echo - >> " + path("log"));
  const auto outcomes = run_commands(Commands(20, {one}), 60s, context);
  EXPECT_TRUE(std::ranges::all_of(outcomes, [](const auto& o) { return o.how == How::succeeded; }));
  int now = 0, most = 0;
  for (const char c : content(folder / "log")) {
    now += c == '+' ? 1 : c == '-' ? -1 : 0;
    most = std::max(most, now);
  }
  EXPECT_GT(most, 1);
  EXPECT_LE(most, static_cast<int>(most_at_once));
}

TEST_F(StaticCommands, each_has_its_own_outcome_in_order) {
  const std::string end = script(folder, "end", "exit $1");
  const auto outcomes =
      run_commands({{end, "0"}, {end, "2"}, {end, "0"}, {end, "4"}}, 60s, context);
  EXPECT_EQ(outcomes[0].how, How::succeeded);
  EXPECT_EQ(outcomes[1].words, "ended with 2");
  EXPECT_EQ(outcomes[2].how, How::succeeded);
  EXPECT_EQ(outcomes[3].words, "ended with 4");
  EXPECT_TRUE(run_commands({}, 60s, context).empty());
}

}  // namespace
}  // namespace muster::static_machines
