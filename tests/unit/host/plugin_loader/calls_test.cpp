// What a plugin can do to its caller, in both transports.
#include <csignal>
#include <sys/wait.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/channel.hpp>

#include "tests/unit/host/plugin_loader/loader_fixture.hpp"

namespace muster::plugin_loader {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Call : public LoaderFixture, public ::testing::WithParamInterface<Isolation> {
 protected:
  std::shared_ptr<Channel> misbehaving() {
    drop("misbehaves");
    return open_instance("misbehaves", GetParam());
  }
};

INSTANTIATE_TEST_SUITE_P(Transports, Call,
                         ::testing::Values(Isolation::in_process, Isolation::process),
                         [](const auto& transport) {
                           return std::string(to_string(transport.param));
                         });

TEST_P(Call, a_bug_fails_the_call_and_five_in_a_row_quarantine_the_plugin) {
  const auto channel = misbehaving();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(ask(channel, "bug"), "internal: vector::at");
  EXPECT_EQ(ask(channel, "echo"), R"({"do":"echo"})");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ask(channel, "bug"), "internal: vector::at");
  EXPECT_EQ(ask(channel, "echo"),
            "transient: the plugin provider/misbehaves is quarantined: 5 internal failures in a "
            "row (last: vector::at); "
            "install a corrected version or run: muster plugin rollback provider/misbehaves");
  EXPECT_EQ(status_of("provider/misbehaves").state, PluginState::quarantined);
}

TEST_P(Call, an_exception_that_crosses_is_contained_and_quarantines_at_once) {
  const auto channel = misbehaving();
  EXPECT_EQ(
      ask(channel, "throw across"),
      "internal: ABI violation, an exception crossed the boundary: thrown across the boundary");
  EXPECT_THAT(ask(channel, "echo"),
              HasSubstr("quarantined: an exception crossed the plugin boundary"));
}

TEST_P(Call, what_is_thrown_need_not_be_an_exception) {
  EXPECT_EQ(ask(misbehaving(), "throw an int"),
            "internal: ABI violation, an exception crossed the boundary: something that is not a "
            "std::exception");
}

TEST_P(Call, an_answer_of_a_gigabyte_is_cut_off) {
  const auto channel = misbehaving();
  EXPECT_EQ(ask(channel, "gigabyte"), "internal: the answer is larger than 64 MiB");
  EXPECT_EQ(ask(channel, "echo"), R"({"do":"echo"})");
}

TEST_P(Call, a_hang_costs_the_call_and_the_next_one_is_served_by_a_fresh_instance) {
  const auto channel = misbehaving();
  EXPECT_THAT(ask(channel, "hang", hang_budget), StartsWith("transient: the deadline passed"));
  EXPECT_EQ(ask(channel, "echo"), R"({"do":"echo"})");
  EXPECT_EQ(status_of("provider/misbehaves").instances.front().restarts, 1);
}

TEST_P(Call, a_call_past_its_deadline_may_give_up_politely) {
  EXPECT_EQ(ask(misbehaving(), "wait", 30ms), "cancelled: gave up politely");
}

TEST_P(Call, a_call_can_be_cancelled_from_another_thread) {
  const auto channel = misbehaving();
  std::atomic<bool> stop = false;
  std::thread canceller([&] { stop = true; });
  const auto answer =
      channel->call("placements", R"({"do":"wait"})", DeadlineContext(ample, &stop));
  canceller.join();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error(), Error::cancelled("gave up politely"));
}

TEST_P(Call, nonsense_answers_are_internal_failures_with_a_path) {
  const auto channel = misbehaving();
  ProviderClient provider(*channel);
  const auto answer_to = [&](const std::string& what) {
    struct Saying final : Channel {  // says `what` where a provider says nothing
      Saying(Channel& to, std::string text)
          : inner(to), request("{\"do\":\"" + std::move(text) + "\"}") {}
      Result<std::string> call(std::string_view method, std::string_view,
                               const Context& context) override {
        return inner.call(method, request, context);
      }
      void answer_was_wrong(std::string_view method, const std::string& why) noexcept override {
        inner.answer_was_wrong(method, why);
      }
      Channel& inner;
      std::string request;
    } saying(*channel, what);
    return ProviderClient(saying).placements({}, DeadlineContext(ample)).error();
  };
  EXPECT_EQ(answer_to("wrong type"), Error::internal("the plugin's answer to placements is wrong: "
                                                     "placements[0].facts: expected an object, got "
                                                     "the number 7"));
  EXPECT_THAT(answer_to("no utf-8").message, HasSubstr("not JSON: "));
  EXPECT_THAT(answer_to("deep").message, HasSubstr("nested deeper than 64 levels"));
  EXPECT_EQ(answer_to("strange status"), Error::internal("unknown status 4711: what is this"));
  answer_to("wrong type");
  EXPECT_THAT(ask(channel, "echo"), HasSubstr("quarantined: 5 internal failures in a row"));
}

TEST_P(Call, many_threads_take_turns) {
  const auto channel = misbehaving();
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const std::string mine = "thread " + std::to_string(t);
      for (int i = 0; i < 50; ++i) right += ask(channel, mine) == "{\"do\":\"" + mine + "\"}";
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 200);
}

// ----------------------------------------------------------------------------------------------------------
// cells only

class Cell : public LoaderFixture {
 protected:
  std::shared_ptr<Channel> misbehaving() {
    drop("misbehaves");
    return open_instance("misbehaves", Isolation::process);
  }
  pid_t pid() const {
    const auto shown = status_of("provider/misbehaves").instances.front().pid;
    return shown ? static_cast<pid_t>(*shown) : -1;
  }
  // Dead counts as gone: who reaps an orphan, and when, is not our affair.
  static bool is_gone(pid_t process) {
    std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
    std::string line;
    return !std::getline(stat, line) || line.at(line.rfind(')') + 2) == 'Z';
  }
  static std::vector<pid_t> members_of(pid_t group) {
    std::vector<pid_t> members;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const pid_t process = std::atoi(entry.path().filename().c_str());
      if (process > 0 && ::getpgid(process) == group) members.push_back(process);
    }
    return members;
  }
};

TEST_F(Cell, a_crash_costs_one_call) {
  const auto channel = misbehaving();
  EXPECT_THAT(ask(channel, "crash"),
              StartsWith("transient: the plugin's process ended during placements, "));
  EXPECT_EQ(ask(channel, "echo"), R"({"do":"echo"})");
}

TEST_F(Cell, an_exit_costs_one_call) {
  const auto channel = misbehaving();
  EXPECT_THAT(ask(channel, "exit"),
              StartsWith("transient: the plugin's process ended during placements, exited with "));
  EXPECT_EQ(ask(channel, "echo"), R"({"do":"echo"})");
}

#ifndef MUSTER_SANITIZED  // a sanitizer takes the whole address space, so there is no limit to run
                          // into
TEST_F(Cell, a_memory_blow_up_costs_one_call) {
  const auto channel = misbehaving();
  EXPECT_EQ(ask(channel, "eat memory"),
            "transient: the plugin's process ended during placements, killed by Aborted");
  EXPECT_EQ(ask(channel, "echo"), R"({"do":"echo"})");
}
#endif

TEST_F(Cell, a_cell_that_is_killed_between_calls_comes_back_by_itself) {
  const auto channel = misbehaving();
  const pid_t first = pid();
  ::kill(first, SIGKILL);
  EXPECT_TRUE(eventually([&] { return pid() != first && pid() > 0; }));
  EXPECT_EQ(ask(channel, "echo"), R"({"do":"echo"})");
  EXPECT_EQ(status_of("provider/misbehaves").instances.front().failed_calls, 0);
  EXPECT_TRUE(log_->contains("the plugin's process ended between calls, killed by Killed"));
}

TEST_F(Cell, a_stopped_cell_is_killed_at_the_deadline) {
  const auto channel = misbehaving();
  EXPECT_THAT(ask(channel, "stop", hang_budget),
              HasSubstr("the deadline passed during placements, killed by Killed"));
  EXPECT_EQ(ask(channel, "echo"), R"({"do":"echo"})");
}

TEST_F(Cell, five_crashes_within_ten_minutes_quarantine_the_plugin) {
  settings_.supervision.first_backoff = 1ms;
  const auto channel = misbehaving();
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(ask(channel, "crash"), StartsWith("transient: the plugin's process ended"));
    if (i < 4) {
      EXPECT_EQ(ask(channel, "echo"), R"({"do":"echo"})");
    }
  }
  EXPECT_THAT(ask(channel, "echo"),
              HasSubstr("is quarantined: ended unexpectedly 5 times within 10 minutes"));
}

TEST_F(Cell, what_a_plugin_started_ends_with_its_cell) {
  const auto channel = misbehaving();
  EXPECT_EQ(ask(channel, "leave a child"), R"({"do":"leave a child"})");
  const auto members = members_of(pid());
  EXPECT_EQ(members.size(), 2U);
  catalog_.reset();
  for (const pid_t member : members) EXPECT_TRUE(eventually([&] { return is_gone(member); }));
}

TEST_F(Cell, last_words_are_in_the_error_and_what_is_printed_is_in_the_log) {
  const auto channel = misbehaving();
  EXPECT_EQ(ask(channel, "talk"), R"({"do":"talk"})");
  EXPECT_TRUE(log_->contains("printed: last words of the plugin"));
  EXPECT_THAT(ask(channel, "talk and die"), HasSubstr("last words: "));
}

TEST_F(Cell, dies_with_a_host_that_is_killed) {
  drop("misbehaves");
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t host = ::fork();
  if (host == 0) {  // a host that is about to be killed, with one cell that serves and one that
                    // hangs in a call
    open({{.instance_id = "a", .plugin_id = "provider/misbehaves"},
          {.instance_id = "b", .plugin_id = "provider/misbehaves"}});
    std::vector<pid_t> cells;
    for (const auto& instance : status_of("provider/misbehaves").instances)
      cells.push_back(static_cast<pid_t>(*instance.pid));
    std::thread([&] { ask(catalog_->channel("b"), "stop"); }).detach();
    [[maybe_unused]] const auto count =
        ::write(pipe[1], cells.data(), cells.size() * sizeof(pid_t));
    for (;;) ::pause();
  }
  pid_t cells[2] = {};
  ASSERT_EQ(::read(pipe[0], cells, sizeof cells), static_cast<ssize_t>(sizeof cells));
  for (const pid_t cell : cells) EXPECT_FALSE(is_gone(cell));
  ::kill(host, SIGKILL);
  ::waitpid(host, nullptr, 0);
  for (const pid_t cell : cells) EXPECT_TRUE(eventually([&] { return is_gone(cell); }));
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST_F(Cell, sees_neither_the_hosts_environment_nor_its_files) {
  ::setenv("MUSTER_TEST_SECRET", "hunter2", 1);
  ::setenv("MUSTER_TEST_PROXY", "proxy.example", 1);
  drop("misbehaves");
  open({{.instance_id = "it",
         .plugin_id = "provider/misbehaves",
         .limits = {.environment = {"MUSTER_TEST_PROXY"}}}});
  const std::string proc = "/proc/" + std::to_string(pid());
  const std::string environment = bytes_of(proc + "/environ");
  EXPECT_THAT(environment, HasSubstr("MUSTER_TEST_PROXY=proxy.example"));
  EXPECT_THAT(environment, ::testing::Not(HasSubstr("hunter2")));
  int descriptors = 0;
  for (const auto& entry : fs::directory_iterator(proc + "/fd"))
    descriptors += entry.path().filename().string() < "4";
  EXPECT_EQ(std::distance(fs::directory_iterator(proc + "/fd"), fs::directory_iterator()),
            descriptors);
  const std::string limits = bytes_of(proc + "/limits");
  EXPECT_THAT(limits, ::testing::ContainsRegex("Max core file size +0 +0 "));
  EXPECT_THAT(limits, ::testing::ContainsRegex("Max open files +1024 +1024 "));
  EXPECT_THAT(bytes_of(proc + "/status"), HasSubstr("NoNewPrivs:\t1"));
}

TEST_F(Cell, runs_as_the_user_that_it_is_told) {
  if (::geteuid() !=
      0) {  // only root can become somebody else; then the refusal is what there is to see
    drop("misbehaves");
    open({{.instance_id = "it", .plugin_id = "provider/misbehaves", .limits = {.user = "nobody"}}});
    EXPECT_THAT(reason_for("misbehaves"),
                HasSubstr("only a host that runs as root can run a cell as another user"));
    return;
  }
  fs::permissions(home_.path(), fs::perms::owner_all | fs::perms::others_exec);
  drop("misbehaves");
  open({{.instance_id = "it", .plugin_id = "provider/misbehaves", .limits = {.user = "nobody"}}});
  ASSERT_NE(catalog_->channel("it"), nullptr) << reason_for("misbehaves");
  EXPECT_EQ(ask(catalog_->channel("it"), "echo"), R"({"do":"echo"})");
  EXPECT_THAT(bytes_of("/proc/" + std::to_string(pid()) + "/status"),
              ::testing::ContainsRegex("Uid:\t65534\t65534"));
}

TEST_F(Cell, an_unknown_user_is_refused_with_its_name) {
  drop("misbehaves");
  open({{.instance_id = "it",
         .plugin_id = "provider/misbehaves",
         .limits = {.user = "no-such-user"}}});
  EXPECT_EQ(reason_for("misbehaves"),
            "instance it: there is no user \"no-such-user\" to run the cell as");
}

// ----------------------------------------------------------------------------------------------------
// in process only

using InProcess = LoaderFixture;

TEST_F(InProcess, three_hangs_move_the_plugin_into_a_cell) {
  settings_.supervision.first_backoff = 1ms;
  drop("misbehaves");
  const auto channel = open_instance("misbehaves", Isolation::in_process);
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(ask(channel, "hang", 50ms), HasSubstr("the deadline passed"));
  EXPECT_EQ(ask(channel, "echo"), R"({"do":"echo"})");
  EXPECT_EQ(status_of("provider/misbehaves").instances.front().isolation, "process");
}

#ifndef MUSTER_SANITIZED_THREADS  // ThreadSanitizer lets no thread be started after a fork
TEST_F(InProcess, a_crash_of_the_host_is_remembered_and_the_plugin_comes_back_in_a_cell) {
  drop("misbehaves");
  const pid_t host = ::fork();
  if (host == 0) {
    CrashRecord::record_crashes();
    crash_record_ = *CrashRecord::open(home_ / "crashes");
    ask(open_instance("misbehaves", Isolation::in_process), "crash");
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(host, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the crash takes its host along";
  crash_record_ = *CrashRecord::open(home_ / "crashes");
  const auto channel = open_instance("misbehaves", Isolation::in_process);
  EXPECT_EQ(status_of("provider/misbehaves").instances.front().isolation, "process");
  EXPECT_EQ(ask(channel, "echo"), R"({"do":"echo"})");
}
#endif

}  // namespace
}  // namespace muster::plugin_loader
