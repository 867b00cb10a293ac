#include "lib/process/run_as.hpp"

#include <filesystem>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"

namespace muster {
namespace {

const std::string all_users = "         0          0 4294967295\n";
const std::string one_user = "         0       1000          1\n";
const std::string some_users =
    "         0       1000          1\n         1     100000      1000\n";

FindUser users(std::vector<RunAs> known) {
  return [known](const std::string& name) -> std::optional<RunAs> {
    for (const RunAs& user : known)
      if (user.name == name || std::to_string(user.uid) == name) return user;
    return std::nullopt;
  };
}

const RunAs root{0, 0, "root"}, nobody{65534, 65534, "nobody"}, own{1000, 1000, "jo"},
    dedicated{990, 991, "muster-worker"};

std::string refusal(const std::optional<std::string>& configured, const OwnUser& host,
                    const FindUser& find) {
  const auto chosen = choose_worker_user(configured, host, find);
  return chosen ? "accepted" : chosen.error().message;
}

TEST(WorkerUser, that_does_not_exist_or_cannot_be_had_is_refused_in_a_sentence) {
  const auto find = users({root, nobody, own});
  EXPECT_NE(refusal("somebody", {0, all_users}, find).find("no user \"somebody\""),
            std::string::npos);
  EXPECT_NE(refusal("", {0, all_users}, find).find("no user"), std::string::npos);
  for (const char* bad : {"1:", ":1", "1:2:3", "x:1", "-1:5", "4294967295:1", "1:4294967295"})
    EXPECT_NE(refusal(bad, {0, all_users}, find).find("uid:gid"), std::string::npos) << bad;
  EXPECT_NE(refusal("nobody", {1000, all_users}, find).find("only a host that runs as root"),
            std::string::npos);
  EXPECT_NE(refusal("root", {1000, all_users}, find).find("only a host that runs as root"),
            std::string::npos);
  EXPECT_NE(refusal("nobody", {0, one_user}, find).find("user namespace"), std::string::npos);
  EXPECT_NE(refusal({}, {0, some_users}, find).find("do not run as root unless"),
            std::string::npos);
}

TEST(WorkerUser, of_root_is_another_one_unless_the_operator_says_root) {
  const auto chosen = [](const std::optional<std::string>& configured, const OwnUser& host,
                         std::vector<RunAs> known) {
    return choose_worker_user(configured, host, users(std::move(known))).value();
  };
  EXPECT_EQ(chosen({}, {0, all_users}, {root, nobody, dedicated}), dedicated);
  EXPECT_EQ(chosen({}, {0, all_users}, {root, nobody}), nobody);
  EXPECT_EQ(chosen({}, {0, all_users}, {root}), (RunAs{65534, 65534, ""}));
  // A line of /etc/passwd that makes root of the dedicated user.
  EXPECT_EQ(chosen({}, {0, all_users}, {root, nobody, {0, 0, "muster-worker"}}), nobody);
  EXPECT_EQ(chosen("jo", {0, all_users}, {root, own}), own);
  EXPECT_EQ(chosen("990:7", {0, all_users}, {root, dedicated}), (RunAs{990, 7, "muster-worker"}));
  EXPECT_EQ(chosen("root", {0, all_users}, {root}), root);
}

TEST(WorkerUser, of_others_is_their_own) {
  const auto find = users({root, nobody, own, dedicated});
  EXPECT_EQ(choose_worker_user({}, {1000, all_users}, find).value(), std::nullopt);
  EXPECT_EQ(choose_worker_user("jo", {1000, all_users}, find).value(), std::nullopt);
  // Root of a namespace with one user is that user.
  EXPECT_EQ(choose_worker_user({}, {0, one_user}, find).value(), std::nullopt);
}

TEST(WorkerUser, whose_way_is_blocked_is_told_where) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directories(folder / "a/b");
  const RunAs stranger{::geteuid() + 4711, ::getegid() + 4711, "stranger"};
  const std::string inner = (folder / "a/b").string();
  EXPECT_EQ(obstacle_on_the_way(stranger, inner),
            folder.path().string() + " (mode 0700) does not let the user stranger through");
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0711));
  std::filesystem::permissions(folder / "a", std::filesystem::perms(0711));
  std::filesystem::permissions(folder / "a/b", std::filesystem::perms(0711));
  EXPECT_EQ(obstacle_on_the_way(stranger, inner), std::nullopt);
  EXPECT_EQ(obstacle_on_the_way(stranger, inner + "/not/yet"), std::nullopt);
  EXPECT_EQ(obstacle_on_the_way({::geteuid(), ::getegid(), ""}, inner), std::nullopt);
}

// As root for real; others cannot become anybody, and are told so.
TEST(WorkerUser, once_become_cannot_be_undone) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int failed = become_user(65534, 65534);
    if (::geteuid() != 65534) ::_exit(failed != 0 ? 10 : 1);
    gid_t groups[4];
    const bool alone = ::getgroups(4, groups) == 0 && ::getegid() == 65534;
    ::_exit(failed == 0 && alone && ::setuid(0) != 0 && ::setgid(0) != 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), ::geteuid() == 0 ? 0 : 10);
}

}  // namespace
}  // namespace muster
