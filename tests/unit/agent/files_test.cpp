#include <fcntl.h>
#include <fstream>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/folder.hpp"
#include "agent/reports.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::agent {
namespace {

using muster::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

mode_t mode_of(const std::filesystem::path& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 ? status.st_mode & 0777 : 0;
}

TEST(AgentFolder, cannot_be_a_file_or_below_one) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "x";
  EXPECT_FALSE(AgentFolder::take(folder / "file"));
  EXPECT_FALSE(AgentFolder::take(folder / "file/below"));
}

TEST(AgentFolder, has_one_agent_at_a_time_that_can_be_seen) {
  const TemporaryFolder folder;
  {
    const auto first = AgentFolder::take(folder / "a/b");
    ASSERT_TRUE(first);
    EXPECT_EQ(content(folder / "a/b/lock"), std::to_string(::getpid()) + "\n");
    const auto second = AgentFolder::take(folder / "a/b");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().error_class, ErrorClass::quota);
    EXPECT_THAT(second.error().message, HasSubstr(std::to_string(::getpid())));
  }
  EXPECT_TRUE(AgentFolder::take(folder / "a/b"));
}

TEST(AgentFolder, is_nobody_elses) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "open");
  ::chmod((folder / "open").c_str(), 0755);
  const auto taken = AgentFolder::take(folder / "open");
  ASSERT_TRUE(taken);
  EXPECT_EQ(mode_of(folder / "open"), 0700u);
  ASSERT_TRUE(taken->write("{}", "{}", {{"A", "b"}}));
  for (const auto& file : {taken->credentials(), taken->worker_config(), taken->environment()})
    EXPECT_EQ(mode_of(file), 0600u);
  taken->remove_secrets();
  taken->remove_secrets();
  EXPECT_FALSE(std::filesystem::exists(taken->credentials()));
  EXPECT_FALSE(std::filesystem::exists(taken->environment()));
  EXPECT_TRUE(std::filesystem::exists(taken->worker_config()));
}

TEST(AgentFolder, of_somebody_else_is_refused) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "f");
  // Only root can give it away; for others it stays their own.
  const bool given = ::chown((folder / "f").c_str(), 4711, 4711) == 0;
  ASSERT_EQ(given, ::geteuid() == 0);
  const auto taken = AgentFolder::take(folder / "f");
  EXPECT_EQ(taken.has_error(), given);
  EXPECT_TRUE(!given || taken.error().message.find("run chown ") != std::string::npos);
}

// As root for another user; others can only hand over to themselves.
TEST(AgentFolder, shows_another_user_only_what_is_for_the_implementation) {
  const TemporaryFolder folder;
  const RunAs reader =
      ::geteuid() == 0 ? RunAs{65534, 65534, ""} : RunAs{::geteuid(), ::getegid(), ""};
  const auto taken = AgentFolder::take(folder / "f", reader);
  ASSERT_TRUE(taken);
  EXPECT_EQ(mode_of(folder / "f"), 0711u);
  ASSERT_TRUE(taken->write("{}", "{}", {{"A", "b"}}));
  taken->write_status("{}");
  const auto owner_of = [](const std::filesystem::path& file) {
    struct stat status {};
    return ::stat(file.c_str(), &status) == 0 ? status.st_uid : static_cast<uid_t>(-1);
  };
  for (const auto& file : {taken->credentials(), taken->worker_config(), taken->environment()}) {
    EXPECT_EQ(owner_of(file), reader.uid);
    EXPECT_EQ(mode_of(file), 0600u);
  }
  for (const char* own : {"lock", "status.json", "."})
    EXPECT_EQ(owner_of(folder / "f" / own), ::geteuid()) << own;
}

// No file may grow past the limit: what a full disk is, for the process that writes.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    ::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallFiles() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(AgentFolder, on_a_full_disk_the_old_files_stay_whole_and_nothing_is_left_behind) {
  const TemporaryFolder folder;
  const auto taken = AgentFolder::take(folder / "f");
  ASSERT_TRUE(taken->write("old", "{}", {{"A", "b"}}));
  {
    const SmallFiles full(100);
    EXPECT_FALSE(taken->write(std::string(1000, 'n'), "{}", {{"A", "b"}}));
    EXPECT_FALSE(taken->write("new", std::string(1000, 'n'), {}));
  }
  EXPECT_EQ(content(taken->credentials()), "old");
  EXPECT_EQ(content(taken->worker_config()), "{}");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "f"))
    files += entry.is_regular_file() ? 1 : 0;
  EXPECT_EQ(files, 4u);  // the three, and the lock
}

TEST(AgentFolder, forgets_secrets_that_a_killed_agent_had_begun_to_write) {
  const TemporaryFolder folder;
  const auto taken = AgentFolder::take(folder / "f");
  for (const char* name : {".credentials.json.Ab12cd", ".environment.sh.Ab12cd",
                           ".worker-config.json.Ab12cd", ".mine"})
    std::ofstream(folder / "f" / name) << "secret";
  taken->remove_secrets();
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "f"))
    left.push_back(entry.path().filename());
  EXPECT_THAT(left, ::testing::UnorderedElementsAre("lock", ".mine"));
}

TEST(AgentFolder, keeps_the_key_of_registrations_over_restarts_and_hides_it) {
  const TemporaryFolder folder;
  std::string key;
  {
    const auto taken = AgentFolder::take(folder / "f");
    key = taken->registration_key().reveal();
    EXPECT_EQ(key.size(), 43u);
    taken->remove_secrets();
  }
  const auto again = AgentFolder::take(folder / "f");
  EXPECT_EQ(again->registration_key().reveal(), key);
  struct stat status {};
  ASSERT_EQ(::stat((folder / "f/registration-key").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(AgentFolder, replaces_a_key_of_registrations_that_is_damaged) {
  const TemporaryFolder folder;
  const auto taken = AgentFolder::take(folder / "f");
  std::ofstream(folder / "f/registration-key") << "short\n";
  const std::string key = taken->registration_key().reveal();
  EXPECT_EQ(key.size(), 43u);
  EXPECT_EQ(taken->registration_key().reveal(), key);
}

TEST(ShellText, survives_quotes_and_skips_what_is_no_variable) {
  EXPECT_EQ(
      shell_text({{"A", "it's $HOME `x`\n"}, {"1B", "x"}, {"C-D", "x"}, {"", "x"}, {"_e", ""}}),
      "A='it'\\''s $HOME `x`\n'\n_e=''\n");
}

// -------------------------------------------------------------------------------------------------

TEST(Reports, that_are_none_are_refused) {
  for (const char* line : {"", "busy", "busy x", "busy -1", "busy 1 2", "busy 99999999999",
                           "idle 1", "error", "error ", "error {", "error {}",
                           "error {\"title\": \"\"}", "error {\"title\": 3}", "terminate"})
    EXPECT_FALSE(parse_report(line)) << line;
}

TEST(Reports, are_read) {
  EXPECT_EQ(std::get<BusyReport>(*parse_report("busy 3")).tasks, 3);
  EXPECT_EQ(std::get<BusyReport>(*parse_report("idle\r")).tasks, 0);
  EXPECT_TRUE(std::holds_alternative<FinishedReport>(*parse_report("finished")));
  const auto plain = std::get<ReportError>(*parse_report("error no space \xff left"));
  EXPECT_EQ(plain.title, "no space \xef\xbf\xbd left");
  const auto full = std::get<ReportError>(*parse_report(
      R"(error {"title": "t", "description": "d", "kind": "k", "extra": {"a": [1]}})"));
  EXPECT_EQ(full.description, "d");
  EXPECT_EQ(full.kind, "k");
  EXPECT_EQ(full.extra, R"({"a":[1]})");
}

TEST(ReportPipe, takes_lines_however_they_come_and_forgets_endless_ones) {
  const TemporaryFolder folder;
  EventLoop loop;
  std::vector<int> busy;
  std::vector<std::string> mistakes;
  const auto pipe = ReportPipe::open(
      loop, folder / "reports",
      [&](const Report& report) {
        if (const auto* tasks = std::get_if<BusyReport>(&report)) busy.push_back(tasks->tasks);
      },
      [&](const std::string& why) { mistakes.push_back(why); });
  ASSERT_TRUE(pipe);
  const FileDescriptor writer(::open((folder / "reports").c_str(), O_WRONLY | O_NONBLOCK));
  const auto write = [&](std::string_view text) {
    ASSERT_EQ(::write(writer.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    (*pipe)->drain();
  };
  write("bu");
  write("sy 1\nbusy 2\nnonsense\nbu");
  write("sy 3\n\n");
  for (int i = 0; i < 40; ++i) write(std::string(4096, 'x'));
  write("\nbusy 4\n");
  EXPECT_THAT(busy, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(mistakes, ElementsAre(HasSubstr("none of"), HasSubstr("64 KiB")));
}

}  // namespace
}  // namespace muster::agent
