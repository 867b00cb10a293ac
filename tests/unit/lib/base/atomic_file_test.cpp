#include "lib/base/atomic_file.hpp"

#include <cerrno>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;

std::size_t entries_of(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

TEST(AtomicFile, reading_says_what_is_wrong_with_a_path) {
  testing::TemporaryFolder folder;
  EXPECT_EQ(read_file(folder / "none", 10).error().error_class, ErrorClass::not_found);
  EXPECT_EQ(read_file(folder.path(), 10).error().message,
            folder.path().string() + " is not a regular file");
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(read_file(folder / "fifo", 10).error().error_class, ErrorClass::invalid);
  EXPECT_EQ(read_file("/dev/zero", 10).error().error_class, ErrorClass::invalid);
}

TEST(AtomicFile, reading_stops_at_the_limit) {
  testing::TemporaryFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "f", "0123456789"));
  EXPECT_EQ(*read_file(folder / "f", 10), "0123456789");
  EXPECT_EQ(read_file(folder / "f", 9).error().message,
            (folder / "f").string() + " is larger than 9 bytes");
}

TEST(AtomicFile, a_failed_write_keeps_the_old_file_and_leaves_nothing_behind) {
  testing::TemporaryFolder folder;
  fs::create_directory(folder / "taken");
  fs::create_directory(folder / "taken/inside");
  EXPECT_FALSE(write_file_atomically(folder / "taken", "x"));
  EXPECT_TRUE(fs::is_directory(folder / "taken/inside"));
  EXPECT_EQ(entries_of(folder.path()), 1u);
  EXPECT_EQ(write_file_atomically(folder / "none/f", "x").error().error_class,
            ErrorClass::not_found);
}

TEST(AtomicFile, a_disk_that_is_full_or_fails_may_get_better) {
  for (const int error : {ENOSPC, EDQUOT, EIO})
    EXPECT_EQ(system_error("write", "f", error).error_class, ErrorClass::transient) << error;
}

TEST(AtomicFile, writing_replaces_content_and_mode) {
  testing::TemporaryFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "f", "old", 0644));
  ASSERT_TRUE(write_file_atomically(folder / "f", std::string(100'000, 'n'), 0600));
  EXPECT_EQ(*read_file(folder / "f", 200'000), std::string(100'000, 'n'));
  EXPECT_EQ(fs::status(folder / "f").permissions(), fs::perms(0600));
  EXPECT_EQ(entries_of(folder.path()), 1u);
}

}  // namespace
}  // namespace muster
