// The whole job on one machine: a real host, local workers with real agents, and the example
// worker.
#include <algorithm>
#include <csignal>
#include <fstream>
#include <set>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/musterd_process.hpp"
#include "tests/support/eventually.hpp"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAreArray;

struct Wishes {
  std::string image = "example-1", greeting = "hello";
  int least = 0, most = 1;
  std::string credentials = "1h", idle = "1h";
};

// Runs until somebody makes the file `go`.
const std::string until_told = "while [ ! -e \"$PLACE/go\" ]; do sleep 0.1; done\n";

class LocalWorkers : public ::testing::Test {
 protected:
  using Names = std::set<std::string>;

  void start(const Wishes& wishes, const std::string& kept = "1h",
             const std::string& grace = "10s") {
    fs::create_directories(tasks() / "done");
    // As root, workers are another user: they need what a stranger may use.
    for (const fs::path& shared : {folder.path(), tasks(), tasks() / "done"})
      fs::permissions(shared, fs::perms(0777));
    wish(wishes);
    write_script("stubborn",
                 "trap 'echo told >>\"$PLACE/told\"' TERM\necho idle >\"$MUSTER_REPORTS\"\n"
                 "while :; do sleep 1000 & wait; done\n");
    host = std::make_unique<Musterd>(host_toml(kept, grace),
                                     Variables{{"A_TOKEN_OF_THE_HOST", "hunter2"}},
                                     MUSTER_SHIPPED_PLUGINS);
    host->keep_port();
  }

  void TearDown() override {
    host.reset();
    for (const auto& [pid, worker] : marked("")) ::kill(pid, SIGKILL);
  }

  // What a team edits.
  void wish(const Wishes& wishes) const {
    fs::create_directories(folder / "workers");
    std::ofstream(folder / "workers.new")
        << "workerTypes = [\"default\"]\n[[rules]]\nruleId = \"all\"\ndescription = \"All\"\n"
        << "[rules.values]\nproviders = [\"local\"]\nowner = \"team@example.com\"\n"
        << "description = \"here\"\nscalingRatio = 0.0\nminCapacity = " << wishes.least
        << "\nmaxCapacity = " << wishes.most << "\n[rules.values.lifecycle]\n"
        << "reregistrationTimeout = \"" << wishes.credentials << "\"\nidleTimeout = \""
        << wishes.idle << "\"\n[rules.values.local]\nimage = \"" << wishes.image << "\"\n"
        << "[rules.values.workerConfig.environment]\nMUSTER_TASKS = \"" << tasks().string()
        << "\"\nPLACE = \"" << folder.path().string() << "\"\nGREETING = \"" << wishes.greeting
        << "\"\n";
    fs::rename(folder / "workers.new", folder / "workers/default.toml");
  }

  void task(const std::string& name, const std::string& script) const {
    const fs::path file = tasks() / (name + ".task");
    std::ofstream(tasks() / ".new") << "echo " << name << " >>\"$PLACE/runs\"\n" << script;
    fs::rename(tasks() / ".new", file);
  }
  bool is_done(const std::string& name) const {
    return fs::exists(tasks() / "done" / (name + ".log"));
  }
  std::string output_of(const std::string& name) const {
    return content_of(tasks() / "done" / (name + ".log"));
  }
  std::size_t done() const { return names_in(tasks() / "done").size(); }
  // Every start of every task.
  std::vector<std::string> runs() const {
    std::istringstream lines(content_of(folder / "runs"));
    std::vector<std::string> names;
    for (std::string name; std::getline(lines, name);) names.push_back(name);
    return names;
  }

  // As the host sees them, without those that have stopped.
  Names workers() const {
    Names ids;
    const auto answer = host->client().get("/api/muster/v1/pools/worker-manager%2Fdefault/workers");
    if (!answer) return ids;
    for (const json::value& worker : answer->at("workers").as_array())
      if (worker.at("state") != "stopped")
        ids.insert(std::string(worker.at("workerId").as_string()));
    return ids;
  }
  std::string state_of(const std::string& worker) const {
    const auto answer = host->client().get(path_of(worker));
    return answer ? std::string(answer->at("state").as_string()) : answer.error().message;
  }
  static std::string path_of(const std::string& worker) {
    return "/api/worker-manager/v1/workers/worker-manager%2Fdefault/here/" + worker;
  }

  // As the machine sees them: agents that hold the lock of their worker's folder.
  std::map<std::string, pid_t> agents() const {
    std::map<std::string, pid_t> found;
    for (const std::string& worker : names_in(local())) {
      pid_t pid = 0;
      std::ifstream(local() / worker / "lock") >> pid;
      for (const auto& [marked_pid, of] : marked(worker))
        if (pid == marked_pid) found[worker] = pid;
    }
    return found;
  }
  // Every process that was started for a worker, or for any of them.
  std::vector<std::pair<pid_t, std::string>> marked(const std::string& worker) const {
    std::vector<std::pair<pid_t, std::string>> found;
    const std::string mark = "MUSTER_LOCAL_FOLDER=" + (local() / worker).string();
    for (const std::string& number : names_in("/proc")) {
      if (number.find_first_not_of("0123456789") != std::string::npos) continue;
      const std::string environment = '\0' + content_of("/proc/" + number + "/environ");
      const auto at = environment.find('\0' + mark);
      if (at == std::string::npos) continue;
      found.emplace_back(std::stoi(number), environment.substr(at + 1 + mark.size()).c_str());
    }
    return found;
  }
  // Agents of one worker, with those that another one was started beside.
  std::size_t agent_processes() const {
    std::size_t count = 0;
    for (const auto& [pid, worker] : marked(""))
      count += content_of("/proc/" + std::to_string(pid) + "/comm") == "muster-agent\n";
    return count;
  }
  pid_t implementation_of(const std::string& worker) const {
    pid_t pid = 0;
    std::ifstream(local() / worker / "worker.pid") >> pid;
    return pid;
  }
  std::string log_of(const std::string& worker) const {
    return content_of(local() / worker / "agent.log");
  }

  // The one worker there is, registered and with its implementation started.
  std::string the_worker() const {
    std::string worker;
    EXPECT_TRUE(eventually([&] {
      const auto all = agents();
      if (all.size() == 1) worker = all.begin()->first;
      return all.size() == 1 && implementation_of(worker) > 0 && state_of(worker) == "running";
    }));
    return worker;
  }

  static Names names_in(const fs::path& path) {
    Names names;
    std::error_code failed;
    for (fs::directory_iterator entry(path, failed), end; !failed && entry != end;
         entry.increment(failed))
      names.insert(entry->path().filename().string());
    names.erase("lock");
    names.erase("owner.json");
    return names;
  }
  fs::path local() const { return folder / "local"; }
  fs::path tasks() const { return folder / "tasks/worker-manager/default"; }
  void touch(const std::string& name) const { std::ofstream(folder / name) << ""; }

  TemporaryFolder folder;
  std::unique_ptr<Musterd> host;

 private:
  std::string host_toml(const std::string& kept, const std::string& grace) const {
    const std::string example = "[\"" MUSTER_SOURCE "/agent/example-worker.sh\"]\n";
    return "workerConfigurations = \"" + (folder / "workers").string() +
           "\"\n[http]\naccessLog = false\n[fleet]\nlistEvery = \"1s\"\ngrace = \"1s\"\n"
           "[demand.tasks]\ntype = \"folder\"\nfolder = \"" +
           (folder / "tasks").string() +
           "\"\n[providers.local]\nplugin = \"provider/local\"\n[providers.local.config]\n"
           "folder = \"" +
           local().string() + "\"\nmaxWorkers = 3\nstopGrace = \"" + grace +
           "\"\nkeepStopped = \"" + kept +
           "\"\ntimings = { idleCheck = \"200ms\", retryMax = \"200ms\" }\n" +
           "[providers.local.config.images]\nexample-1 = " + example + "example-2 = " + example +
           "stubborn = [\"" + (folder / "stubborn").string() + "\"]\n";
  }

  void write_script(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name) << "#!/bin/sh\n" << text;
    ::chmod((folder / name).c_str(), 0755);
  }
};

TEST_F(LocalWorkers, come_for_tasks_do_each_of_them_once_and_go_when_nothing_is_left) {
  start({.most = 3, .idle = "1s"}, "1ms");
  Names all;
  for (int i = 0; i < 12; ++i) {
    const std::string name = "t" + std::to_string(i);
    task(name, "echo $GREETING from $MUSTER_WORKER_ID\n");
    all.insert(name);
  }
  ASSERT_TRUE(eventually([&] { return done() == all.size(); }));
  EXPECT_THAT(runs(), UnorderedElementsAreArray(all));
  EXPECT_THAT(output_of("t0"), AllOf(HasSubstr("hello from local-"), HasSubstr("exit code 0")));
  EXPECT_TRUE(eventually([&] { return workers().empty(); })) << "idle";
  EXPECT_TRUE(eventually([&] { return marked("").empty() && names_in(local()).empty(); }))
      << "processes and folders are gone";
  EXPECT_THAT(names_in(tasks() / "claimed"), IsEmpty());
}

// What a task can learn of the host that runs as the same or, as root, as another user.
TEST_F(LocalWorkers, have_no_rights_and_no_secrets_of_the_host) {
  start({.most = 1});
  // No folder but the data directory itself stands between a task and what is in it.
  fs::permissions(host->folder(), fs::perms(0711));
  const std::string data = host->data_directory().string();
  task("look",
       "id -u; id -G; grep -E 'NoNewPrivs|CapEff|Groups' /proc/self/status\n"
       "for file in admin-token admin.env muster.db; do cat " +
           data + "/$file && echo READ $file; done\nls " + data + " && echo LISTED\n" + "cat " +
           local().string() +
           "/*/secret && echo READ secret\ncat \"${MUSTER_CREDENTIALS_FILE%/*}\"/secret && echo "
           "READ own secret\n"
           "env; ls -l /proc/self/fd; pwd; touch here && echo WORKS\n");
  ASSERT_TRUE(eventually([&] { return is_done("look"); }));
  const std::string seen = output_of("look");
  EXPECT_THAT(seen, AllOf(HasSubstr("NoNewPrivs:\t1"), HasSubstr("WORKS"),
                          Not(HasSubstr("A_TOKEN_OF_THE_HOST"))));
  EXPECT_THAT(seen, Not(HasSubstr(data + "/lock"))) << "an open file of the host";
  if (::geteuid() != 0) return;  // the same user can read what that user can read
  EXPECT_THAT(seen, AllOf(Not(HasSubstr("READ")), Not(HasSubstr("LISTED")),
                          HasSubstr("CapEff:\t0000000000000000"), HasSubstr("Groups:\t \n"),
                          Not(StartsWith("0\n"))));
}

TEST_F(LocalWorkers, take_no_variable_that_changes_what_programs_run) {
  start({.most = 1});
  Wishes bad;
  bad.greeting = "hello\"\nBASH_ENV = \"/tmp/evil";
  wish(bad);
  EXPECT_TRUE(eventually([&] {
    return json::write(host->status()).find("workerConfig.environment.BASH_ENV") !=
           std::string::npos;
  })) << json::write(host->status());
  const auto pool = host->client().put(
      "/api/worker-manager/v1/worker-pool/worker-manager%2Fapi",
      {{"providerId", "local"},
       {"owner", "team@example.com"},
       {"description", ""},
       {"emailOnError", false},
       {"config",
        json::object{
            {"minCapacity", 0},
            {"maxCapacity", 1},
            {"launchConfigs",
             json::array{json::object{
                 {"capacityPerInstance", 1},
                 {"image", "example-1"},
                 {"workerConfig",
                  json::object{{"environment", json::object{{"LD_PRELOAD", "/tmp/x.so"}}}}}}}}}}});
  ASSERT_FALSE(pool);
  EXPECT_THAT(pool.error().message, HasSubstr("workerConfig.environment.LD_PRELOAD"));
}

// As somebody at a terminal sees it.
TEST_F(LocalWorkers, are_shown_by_muster_status_watch_with_the_whole_reason_why_something_waits) {
  start({.least = 1, .most = 5});
  const std::string worker = the_worker();
  for (const char* name : {"a", "b", "c", "d", "e"}) task(name, until_told);
  const std::string command = std::string(MUSTER_PROGRAMS) +
                              "/muster status --watch --data-directory " +
                              host->data_directory().string();
  Process watch("/usr/bin/script", {"-qec", "stty rows 50 cols 100; " + command, "/dev/null"},
                {{"TERM", "xterm"}});
  watch.wait_for("here/" + worker);
  watch.wait_for("maxWorkers");
  touch("go");
  watch.wait_for("placed");
  watch.signal(SIGTERM);
  watch.exit_code();
}

TEST_F(LocalWorkers, outlive_a_host_that_is_killed_and_none_is_lost_or_doubled) {
  // Three also when the tasks are done: a launch that was cut off is replaced a while later.
  start({.least = 3, .most = 3});
  Names all;
  for (int i = 0; i < 60; ++i) {
    const std::string name = "t" + std::to_string(i);
    task(name, "sleep 0.1\n");
    all.insert(name);
  }
  std::map<std::string, pid_t> had_registered;
  // At another moment each time: while they are launched, and while they work.
  for (const std::size_t progress : {0U, 5U, 25U}) {
    ASSERT_TRUE(eventually([&] { return !names_in(local()).empty() && done() >= progress; }));
    host->kill();
    for (const auto& [worker, pid] : agents())
      if (implementation_of(worker) > 0) had_registered[worker] = pid;
    host->start();
  }
  ASSERT_TRUE(eventually([&] { return done() == all.size(); }));
  EXPECT_THAT(runs(), UnorderedElementsAreArray(all)) << "each once";
  ASSERT_TRUE(eventually([&] { return agents().size() == 3 && agent_processes() == 3; }));
  const auto running = agents();
  Names launched;
  for (const auto& [worker, pid] : running) launched.insert(worker);
  EXPECT_TRUE(eventually([&] { return workers() == launched; }));
  // A launch that was cut off with the host is over before an agent was there.
  Names alive = names_in(local());
  std::erase_if(alive, [&](const std::string& worker) {
    return std::filesystem::exists(local() / worker / "ended.json");
  });
  EXPECT_EQ(alive, launched) << "nobody was launched twice";
  for (const auto& [worker, pid] : had_registered) EXPECT_EQ(running.at(worker), pid) << worker;
}

TEST_F(LocalWorkers, go_on_when_their_host_has_lost_its_database) {
  start({.least = 2, .most = 2, .credentials = "4s"});
  ASSERT_TRUE(eventually([&] { return agents().size() == 2; }));
  const auto before = agents();
  ASSERT_TRUE(eventually([&] {
    return std::ranges::all_of(before, [&](const auto& agent) {
      return state_of(agent.first) == "running" && implementation_of(agent.first) > 0;
    });
  }));
  std::map<std::string, pid_t> implementations;
  for (const auto& [worker, pid] : before) implementations[worker] = implementation_of(worker);
  host->kill();
  const std::string store = (host->data_directory() / "muster.db").string();
  for (const char* ending : {"", "-wal", "-shm"}) fs::remove(store + ending);
  host->start();
  EXPECT_TRUE(eventually([&] {
    return std::ranges::all_of(
        before, [&](const auto& agent) { return state_of(agent.first) == "running"; });
  })) << "they have registered again";
  EXPECT_EQ(agents(), before) << "the same agents, and no others";
  for (const auto& [worker, pid] : implementations) EXPECT_EQ(implementation_of(worker), pid);
}

TEST_F(LocalWorkers, whose_agents_are_killed_leave_nothing_behind_and_are_replaced) {
  start({.most = 2});
  for (const char* name : {"a", "b"}) task(name, until_told);
  ASSERT_TRUE(eventually([&] { return runs().size() == 2; }));
  const auto killed = agents();
  ASSERT_THAT(killed, SizeIs(2));
  for (const auto& [worker, pid] : killed) ::kill(pid, SIGKILL);
  for (const auto& [worker, pid] : killed) {
    EXPECT_TRUE(eventually([&, worker = worker] { return marked(worker).empty(); }))
        << "neither the implementation nor its task";
    EXPECT_TRUE(eventually([&, worker = worker] { return state_of(worker) == "stopped"; }));
  }
  // How far they came nobody knows: they stay claimed until somebody puts them back.
  ASSERT_THAT(names_in(tasks() / "claimed"), SizeIs(4)) << "two tasks with their output";
  touch("go");
  for (const auto& [worker, pid] : killed)
    for (const char* name : {"a", "b"}) {
      const fs::path claim = tasks() / "claimed" / (std::string(name) + ".task." + worker);
      if (fs::exists(claim)) fs::rename(claim, tasks() / (std::string(name) + ".task"));
    }
  EXPECT_TRUE(eventually([&] { return is_done("a") && is_done("b"); }));
  for (const auto& [worker, pid] : agents()) EXPECT_FALSE(killed.contains(worker));
}

TEST_F(LocalWorkers, get_a_new_value_when_they_renew_their_credentials_and_run_on) {
  start({.least = 1, .credentials = "4s"});
  const std::string worker = the_worker();
  const pid_t agent = agents().at(worker), implementation = implementation_of(worker);
  int count = 0;
  const auto greeting = [&] {
    const std::string name = "t" + std::to_string(count++);
    task(name, "echo $GREETING\n");
    EXPECT_TRUE(eventually([&] { return is_done(name); }));
    return output_of(name);
  };
  EXPECT_EQ(greeting(), "hello\nexit code 0\n");
  wish({.greeting = "servus", .least = 1, .credentials = "4s"});
  EXPECT_TRUE(eventually([&] { return greeting() == "servus\nexit code 0\n"; }));
  EXPECT_EQ(agents(), (std::map<std::string, pid_t>{{worker, agent}}));
  EXPECT_EQ(implementation_of(worker), implementation);
  EXPECT_THAT(log_of(worker), HasSubstr("\"message\":\"renewed\""));
}

TEST_F(LocalWorkers, of_an_old_image_are_told_give_back_their_task_and_are_replaced) {
  start({.most = 2, .credentials = "4s"});
  task("a", until_told);
  const std::string old = the_worker();
  ASSERT_TRUE(eventually([&] { return runs().size() == 1; }));
  wish({.image = "example-2", .most = 2, .credentials = "4s"});
  EXPECT_TRUE(eventually([&] { return runs().size() == 2; })) << "another worker began it anew";
  EXPECT_TRUE(eventually([&] { return state_of(old) == "stopped"; }));
  EXPECT_THAT(log_of(old), AllOf(HasSubstr("`local.image` of its launch configuration has changed"),
                                 HasSubstr("\"exitCode\":20")));
  touch("go");
  EXPECT_TRUE(eventually([&] { return is_done("a"); }));
  for (const auto& [worker, pid] : agents())
    EXPECT_THAT(content_of(local() / worker / "instance.json"), HasSubstr("\"example-2\""));
  EXPECT_THAT(marked(old), IsEmpty());
}

TEST_F(LocalWorkers, that_do_not_end_when_they_are_told_to_are_killed_after_the_grace) {
  start({.image = "stubborn", .least = 1}, "1h", "300ms");
  const std::string stubborn = the_worker();
  ASSERT_TRUE(host->client().remove(path_of(stubborn)));
  EXPECT_TRUE(eventually([&] { return marked(stubborn).empty(); }));
  EXPECT_EQ(content_of(folder / "told"), "told\n");
  EXPECT_THAT(log_of(stubborn), HasSubstr("did not end in time and is killed"));
  EXPECT_TRUE(eventually([&] { return state_of(stubborn) == "stopped"; }));
  // Nor does an agent have to be in a state to obey.
  const std::string frozen = the_worker();
  ASSERT_NE(frozen, stubborn);
  ::kill(agents().at(frozen), SIGSTOP);
  ASSERT_TRUE(host->client().remove(path_of(frozen)));
  EXPECT_TRUE(eventually([&] { return marked(frozen).empty(); }));
  EXPECT_TRUE(eventually([&] { return state_of(frozen) == "stopped"; }));
}

TEST_F(LocalWorkers, whose_host_is_gone_for_longer_than_their_credentials_last_end_by_themselves) {
  start({.most = 1, .credentials = "3s"});
  task("a", until_told);
  const std::string worker = the_worker();
  ASSERT_TRUE(eventually([&] { return runs().size() == 1; }));
  host->kill();
  EXPECT_TRUE(eventually([&] { return marked("").empty(); }));
  EXPECT_THAT(log_of(worker), HasSubstr("\"exitCode\":24"));
  EXPECT_TRUE(fs::exists(tasks() / "a.task")) << "given back";
  touch("go");
  host->start();
  EXPECT_TRUE(eventually([&] { return is_done("a"); }));
  EXPECT_THAT(runs(), ElementsAre("a", "a"));
  EXPECT_TRUE(eventually([&] { return state_of(worker) == "stopped"; }));
}

}  // namespace
}  // namespace muster::testing
