// The example worker without an agent: what becomes of tasks when it is killed.
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/musterd_process.hpp"
#include "tests/support/eventually.hpp"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

class ExampleWorker : public ::testing::Test {
 protected:
  ExampleWorker() { fs::create_directories(tasks()); }
  ~ExampleWorker() override { std::ofstream(folder / "go") << ""; }

  fs::path tasks() const { return folder / "tasks"; }

  void task(const std::string& name, const std::string& script) const {
    std::ofstream(tasks() / ".new")
        << "echo " << name << " >>" << (folder / "runs").string() << "\n"
        << script;
    fs::rename(tasks() / ".new", tasks() / (name + ".task"));
  }
  std::string until_told() const {
    return "while [ ! -e " + (folder / "go").string() + " ]; do sleep 0.05; done\n";
  }

  // A worker with a pipe for its reports, which are read for as long as the descriptor lives.
  struct Running {
    std::unique_ptr<Process> process;
    FileDescriptor reports;
  };
  Running start(const std::string& id) const {
    const fs::path pipe = folder / ("reports-" + id);
    ::mkfifo(pipe.c_str(), 0600);
    FileDescriptor reports(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    return {std::make_unique<Process>(
                "/bin/sh", std::vector<std::string>{MUSTER_SOURCE "/agent/example-worker.sh"},
                Variables{{"MUSTER_TASKS", tasks().string()},
                          {"MUSTER_WORKER_ID", id},
                          {"MUSTER_REPORTS", pipe.string()},
                          {"MUSTER_WORKER_CONFIG_FILE", "/dev/null"},
                          {"MUSTER_ENVIRONMENT_FILE", "/dev/null"}}),
            std::move(reports)};
  }
  static bool has_reported(const Running& worker, const std::string& line) {
    char bytes[64] = {};
    return ::read(worker.reports.get(), bytes, sizeof bytes - 1) > 0 &&
           std::string(bytes).find(line) != std::string::npos;
  }

  // It takes a task and cannot go on, because nobody reads what it reports.
  void take_and_die(const std::string& id, const std::string& name) const {
    Running worker = start(id);
    ASSERT_TRUE(eventually([&] { return has_reported(worker, "idle"); }));
    worker.reports = FileDescriptor();
    task(name, "echo output\n");
    ASSERT_TRUE(eventually([&] { return fs::exists(tasks() / "taken" / (name + ".task." + id)); }));
    worker.process->signal(SIGKILL);
    worker.process->exit_code();
  }

  TemporaryFolder folder;
};

TEST_F(ExampleWorker, that_is_killed_after_it_has_begun_a_task_leaves_it_to_people) {
  Running first = start("first");
  task("t", until_told());
  ASSERT_TRUE(eventually([&] { return content_of(folder / "runs") == "t\n"; }));
  first.process->signal(SIGKILL);
  const Running second = start("second");
  task("next", "");
  ASSERT_TRUE(eventually([&] { return fs::exists(tasks() / "done/next.log"); }));
  EXPECT_TRUE(fs::exists(tasks() / "claimed/t.task.first"));
  EXPECT_FALSE(fs::exists(tasks() / "t.task"));
  EXPECT_EQ(content_of(folder / "runs"), "t\nnext\n") << "at most once";
}

TEST_F(ExampleWorker, that_is_killed_before_it_has_begun_a_task_leaves_it_to_the_next_one) {
  take_and_die("first", "t");
  EXPECT_FALSE(fs::exists(folder / "runs")) << "its first line has not run";
  const Running second = start("second");
  ASSERT_TRUE(eventually([&] { return fs::exists(tasks() / "done/t.log"); }));
  EXPECT_EQ(content_of(tasks() / "done/t.log"), "output\nexit code 0\n");
  EXPECT_EQ(content_of(folder / "runs"), "t\n") << "once";
  EXPECT_FALSE(fs::exists(tasks() / "taken/.first"));
}

TEST_F(ExampleWorker, gives_back_what_it_had_taken_in_an_earlier_life) {
  take_and_die("same", "t");
  const Running again = start("same");
  EXPECT_TRUE(eventually([&] { return fs::exists(tasks() / "done/t.log"); }));
  EXPECT_EQ(content_of(folder / "runs"), "t\n");
}

TEST_F(ExampleWorker, leaves_alone_what_a_worker_that_lives_has_taken) {
  Running slow = start("slow");
  ASSERT_TRUE(eventually([&] { return has_reported(slow, "idle"); }));
  slow.reports = FileDescriptor();
  task("t", "");
  ASSERT_TRUE(eventually([&] { return fs::exists(tasks() / "taken/t.task.slow"); }));
  const Running other = start("other");
  task("next", "");
  ASSERT_TRUE(eventually([&] { return fs::exists(tasks() / "done/next.log"); }));
  EXPECT_TRUE(fs::exists(tasks() / "taken/t.task.slow")) << "it is about to begin it";
  slow.process->signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return fs::exists(tasks() / "done/t.log"); }))
      << "a worker that is idle looks, too";
}

}  // namespace
}  // namespace muster::testing
