#include "lib/base/data_directory.hpp"

#include <fcntl.h>
#include <fstream>
#include <optional>
#include <sys/file.h>
#include <sys/wait.h>

#include <gtest/gtest.h>

#include "lib/base/atomic_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;

TEST(DataDirectory, refuses_what_is_no_private_folder) {
  testing::TemporaryFolder folder;
  std::ofstream(folder / "file") << "x";
  EXPECT_EQ(DataDirectory::open(folder / "file").error().message,
            "the data directory " + (folder / "file").string() + " is not a folder");
  EXPECT_EQ(DataDirectory::open(folder / "no/such/parent").error().error_class,
            ErrorClass::not_found);
  fs::create_directory(folder / "open");
  fs::permissions(folder / "open", fs::perms::all);
  EXPECT_NE(DataDirectory::open(folder / "open").error().message.find("chmod go-w"),
            std::string::npos);
}

TEST(DataDirectory, refuses_a_second_host_and_names_the_first_ones_pid) {
  testing::TemporaryFolder folder;
  const auto first = DataDirectory::open(folder / "d");
  ASSERT_TRUE(first) << first.error().message;
  const auto second = DataDirectory::open(folder / "d");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, DataDirectory::in_use);
  EXPECT_NE(second.error().message.find("another musterd, pid " + std::to_string(::getpid()) + ":"),
            std::string::npos)
      << second.error().message;
}

TEST(DataDirectory, says_so_if_the_holder_has_written_no_pid) {
  testing::TemporaryFolder folder;
  fs::create_directory(folder / "d");
  const FileDescriptor holder(::open((folder / "d/lock").c_str(), O_RDWR | O_CREAT, 0600));
  ASSERT_EQ(::flock(holder.get(), LOCK_EX), 0);
  EXPECT_NE(DataDirectory::open(folder / "d").error().message.find("has not written its pid"),
            std::string::npos);
}

TEST(DataDirectory, a_pid_without_a_lock_is_stale) {
  testing::TemporaryFolder folder;
  fs::create_directory(folder / "d");
  std::ofstream(folder / "d/lock") << "1234567890123\n";
  ASSERT_TRUE(DataDirectory::open(folder / "d"));
  EXPECT_EQ(*read_file(folder / "d/lock", 100), std::to_string(::getpid()) + "\n");
}

TEST(DataDirectory, is_private_and_free_again_after_its_owner) {
  testing::TemporaryFolder folder;
  {
    const auto first = DataDirectory::open(folder / "d");
    ASSERT_TRUE(first);
    EXPECT_EQ(fs::status(folder / "d").permissions(), fs::perms(0711));
  }
  EXPECT_TRUE(DataDirectory::open(folder / "d"));
}

TEST(DataDirectory, a_program_started_by_the_host_does_not_keep_the_lock) {
  testing::TemporaryFolder folder;
  auto opened = DataDirectory::open(folder / "d");
  auto first = std::make_optional(std::move(opened.value()));
  int release[2];
  ASSERT_EQ(::pipe2(release, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {  // `cat` lives until the pipe is closed
    ::dup2(release[0], STDIN_FILENO);
    ::execlp("cat", "cat", nullptr);
    ::_exit(127);
  }
  // Until exec the child shares the lock; afterwards the descriptor is gone.
  const std::string image = "/proc/" + std::to_string(child) + "/comm";
  for (std::string name; name != "cat\n";) {
    name = *read_file(image, 100);
    ASSERT_EQ(::waitpid(child, nullptr, WNOHANG), 0);
  }
  first.reset();
  EXPECT_TRUE(DataDirectory::open(folder / "d"));
  ::close(release[0]);
  ::close(release[1]);
  ::waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace muster
