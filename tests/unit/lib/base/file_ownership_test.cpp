#include "lib/base/file_ownership.hpp"

#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "lib/base/data_directory.hpp"
#include "lib/base/secret_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster {
namespace {

constexpr uid_t own = 1000, stranger = 1001;

std::string refusal(uid_t owner, mode_t mode, OthersMay others, const std::string& path = "/p") {
  struct stat about {};
  about.st_uid = owner;
  about.st_mode = mode;
  const auto ours = check_ownership(about, path, "the token", others, own);
  return ours ? "" : ours.error().message;
}

TEST(FileOwnership, what_a_stranger_can_change_is_refused_with_the_command_that_helps) {
  EXPECT_EQ(refusal(stranger, 0600, OthersMay::nothing),
            "the token /p belongs to user 1001, who can change it, and not to user 1000, who uses "
            "it: run chown 1000 '/p' if its content is what you want");
  EXPECT_EQ(refusal(own, 0664, OthersMay::read),
            "the token /p is writable by its group: run chmod go-w '/p'");
  EXPECT_EQ(refusal(own, 0646, OthersMay::read),
            "the token /p is writable by everybody: run chmod go-w '/p'");
  for (const mode_t mode : {0640U, 0604U, 0620U, 0602U, 0610U, 0601U})
    EXPECT_EQ(refusal(own, mode, OthersMay::nothing, "/a 'b"),
              "others than its owner may use the token in /a 'b: run chmod 600 '/a '\\''b', and "
              "replace it if others may have read it");
}

TEST(FileOwnership, what_is_ours_or_roots_is_accepted) {
  for (const uid_t owner : {own, uid_t(0)}) {
    EXPECT_EQ(refusal(owner, 0600, OthersMay::nothing), "");
    EXPECT_EQ(refusal(owner, 0400, OthersMay::nothing), "");
    EXPECT_EQ(refusal(owner, 0755, OthersMay::read), "");
  }
}

// As root with real files of somebody else; others cannot make any, and a file of theirs is theirs.
TEST(FileOwnership, holds_for_the_data_directory_and_for_files_with_secrets) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "data");
  std::ofstream(folder / "secret") << "abc";
  ::chmod((folder / "secret").c_str(), 0600);
  ::chmod((folder / "data").c_str(), 0700);
  EXPECT_TRUE(read_secret_file(folder / "secret", "the token"));
  const bool given = ::chown((folder / "secret").c_str(), 4711, 4711) == 0 &&
                     ::chown((folder / "data").c_str(), 4711, 4711) == 0;
  ASSERT_EQ(given, ::geteuid() == 0);
  const auto secret = read_secret_file(folder / "secret", "the token");
  EXPECT_EQ(secret.has_error(), given);
  EXPECT_TRUE(!given || secret.error().message.find("chown ") != std::string::npos);
  EXPECT_EQ(DataDirectory::open(folder / "data").has_error(), given);
  ASSERT_EQ(::chown((folder / "data").c_str(), ::geteuid(), ::getegid()), 0);
  ::chmod((folder / "data").c_str(), 0770);
  EXPECT_NE(DataDirectory::open(folder / "data").error().message.find("writable by its group"),
            std::string::npos);
}

}  // namespace
}  // namespace muster
