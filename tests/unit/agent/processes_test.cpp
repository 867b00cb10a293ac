#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/children.hpp"
#include "agent/folder.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::agent {
namespace {

using namespace std::chrono_literals;
using muster::testing::eventually;
using muster::testing::TemporaryFolder;

sigset_t no_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  return set;
}

bool is_there(const std::filesystem::path& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 && status.st_size > 0;
}

bool lives(pid_t pid) {
  return ::kill(pid, 0) == 0;
}

pid_t number_in(const std::filesystem::path& file) {
  pid_t pid = 0;
  std::ifstream(file) >> pid;
  return pid;
}

TEST(Children, that_cannot_be_run_are_told_from_those_that_fail) {
  Children children(no_signals());
  const auto missing = children.start({{"/no/such/program"}, {}}, [](int) {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().error_class, ErrorClass::config);
  std::optional<int> status;
  ASSERT_TRUE(children.start({{"sh", "-c", "exit 3"}, {}}, [&](int ended) { status = ended; }));
  EXPECT_TRUE(eventually([&] {
    children.reap();
    return status.has_value();
  }));
  EXPECT_EQ(how_it_failed(*status), "status 3");
}

TEST(Children, have_each_variable_once_and_the_given_value_of_it) {
  ::setenv("MUSTER_TEST_OLD", "old", 1);
  ::setenv("MUSTER_TEST_KEPT", "a=b", 1);
  const auto list = environment_with({{"MUSTER_TEST_OLD", "new"}});
  ::unsetenv("MUSTER_TEST_OLD");
  ::unsetenv("MUSTER_TEST_KEPT");
  const auto count = [&](const char* text) { return std::ranges::count(list, text); };
  EXPECT_EQ(count("MUSTER_TEST_OLD=old"), 0);
  EXPECT_EQ(count("MUSTER_TEST_OLD=new"), 1);
  EXPECT_EQ(count("MUSTER_TEST_KEPT=a=b"), 1);
}

TEST(Children, have_a_group_of_their_own_that_goes_with_them) {
  const TemporaryFolder folder;
  Children children(no_signals());
  bool ended = false;
  const std::string script = "sleep 1000 & echo $! >" + (folder / "below").string() + "; exit 0";
  const auto started = children.start({{"/bin/sh", "-c", script}, {}}, [&](int) { ended = true; });
  ASSERT_TRUE(started);
  EXPECT_TRUE(eventually([&] {
    children.reap();
    return ended;
  }));
  // It was left to us, dies and is reaped.
  EXPECT_TRUE(eventually([&] {
    children.reap();
    return !lives(number_in(folder / "below"));
  }));
}

TEST(Children, and_their_own_children_do_not_outlive_an_agent_that_is_killed) {
  const TemporaryFolder folder;
  const pid_t agent = ::fork();
  if (agent == 0) {
    Children children(no_signals());
    const std::string script = "sleep 1000 & echo $! >" + (folder / "child").string() +
                               "; echo $$ >" + (folder / "pid").string() + "; wait";
    (void)children.start({{"/bin/sh", "-c", script}, {"PATH=/bin:/usr/bin"}}, [](int) {});
    for (;;) ::pause();
  }
  ASSERT_TRUE(eventually([&] { return is_there(folder / "pid"); }));
  const pid_t worker = number_in(folder / "pid"), child = number_in(folder / "child");
  EXPECT_TRUE(lives(worker) && lives(child));
  ::kill(agent, SIGKILL);
  ::waitpid(agent, nullptr, 0);
  EXPECT_TRUE(eventually([&] {
    ::waitpid(-1, nullptr, WNOHANG);  // another test made this program a reaper
    return !lives(worker) && !lives(child);
  }));
}

TEST(Children, start_with_the_signals_that_a_program_expects) {
  const TemporaryFolder folder;
  ::signal(SIGPIPE, SIG_IGN);
  Children children(no_signals());
  const std::string script =
      "grep -E 'Sig(Blk|Ign)' /proc/self/status >" + (folder / "out").string();
  bool ended = false;
  ASSERT_TRUE(children.start({{"/bin/sh", "-c", script}, {"PATH=/bin:/usr/bin"}},
                             [&](int) { ended = true; }));
  EXPECT_TRUE(eventually([&] {
    children.reap();
    return ended;
  }));
  std::string blocked, ignored, name;
  std::ifstream(folder / "out") >> name >> blocked >> name >> ignored;
  EXPECT_EQ(blocked, "0000000000000000");
  EXPECT_EQ(std::stoull(ignored, nullptr, 16) & (1u << (SIGPIPE - 1)), 0u);
}

// As root another user, else the own one: then there is nothing to drop but what could be gained.
TEST(Children, can_be_another_user_without_groups_who_gets_no_more_rights) {
  const TemporaryFolder folder;
  const bool root = ::geteuid() == 0;
  const RunAs user = root ? RunAs{65534, 65534, ""} : RunAs{::geteuid(), ::getegid(), ""};
  // Nobody but its owner can pass through the folder; the program itself is for everybody.
  std::ofstream(folder / "program") << "#!/bin/sh\necho ran as $(id -u)\n"
                                       "grep -E 'NoNewPrivs|Groups' /proc/self/status\n";
  ::chmod((folder / "program").c_str(), 0755);
  const FileDescriptor output(
      ::open((folder / "out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  Children children(no_signals());
  std::optional<int> status;
  const auto started =
      children.start({{(folder / "program").string()}, {"PATH=/bin:/usr/bin"}, output.get(), user},
                     [&](int ended) { status = ended; });
  if (!root) {  // only root can drop groups: it is refused, and nothing runs
    ASSERT_FALSE(started);
    return;
  }
  ASSERT_TRUE(started) << started.error().message;
  EXPECT_TRUE(eventually([&] {
    children.reap();
    return status.has_value();
  }));
  EXPECT_EQ(*status, 0);
  std::ifstream in(folder / "out");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(text, "ran as 65534\nGroups:\t \nNoNewPrivs:\t1\n");
}

TEST(AgentFolder, ends_what_an_agent_that_was_killed_left_running) {
  const TemporaryFolder folder;
  const auto taken = AgentFolder::take(folder / "f");
  ASSERT_TRUE(taken);
  const std::string mark = "MUSTER_REPORTS=" + taken->reports().string();
  const auto start = [&](const std::string& variable) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::setsid();
      char* const argv[]{const_cast<char*>("/bin/sleep"), const_cast<char*>("1000"), nullptr};
      char* const environment[]{const_cast<char*>(variable.c_str()), nullptr};
      ::execve(argv[0], argv, environment);
      ::_exit(127);
    }
    const std::string comm = "/proc/" + std::to_string(pid) + "/comm";
    EXPECT_TRUE(eventually([&] {
      std::string name;
      std::ifstream(comm) >> name;
      return name == "sleep";
    }));
    return pid;
  };
  const pid_t left = start(mark), other = start(mark + "-of-another");
  EXPECT_EQ(taken->end_leftovers(), 1);
  int status = 0;
  ::waitpid(left, &status, 0);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_TRUE(lives(other));
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
}

TEST(OutputOf, a_command_is_what_it_wrote_or_why_not) {
  EventLoop loop;
  Children children(no_signals());
  std::function<void()> reap = [&] {
    children.reap();
    loop.after(1ms, reap);
  };
  reap();
  const auto run = [&](Words command, Milliseconds timeout) {
    std::optional<Result<std::string>> result;
    const OutputOf output(loop, children, {std::move(command), {}}, timeout,
                          [&](Result<std::string> text) { result = std::move(text); });
    while (!result) loop.run_once();
    return *result ? **result : result->error().message;
  };
  EXPECT_EQ(run({"/bin/echo", "one two"}, 30s), "one two");
  EXPECT_EQ(run({"/bin/sh", "-c", "exit 1"}, 30s), "/bin/sh failed with status 1");
  EXPECT_EQ(run({"/bin/sleep", "1000"}, 50ms), "/bin/sleep takes too long");
  EXPECT_EQ(run({"/bin/sh", "-c", "head -c 100000 /dev/zero | tr '\\0' x"}, 30s),
            std::string(4096, 'x'));
}

}  // namespace
}  // namespace muster::agent
