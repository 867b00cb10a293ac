#include "lib/base/folder_watch.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;
using Event = FolderWatch::Event;
namespace fs = std::filesystem;

TEST(FolderWatch, an_entry_that_is_not_watched_is_passed_over) {
  const testing::TemporaryFolder folder;
  auto watch = FolderWatch::open().value();
  watch.watch({{folder.path(), "workers"}});
  std::ofstream(folder / "unrelated") << "x";
  EXPECT_EQ(watch.wait(0ms), Event::timed_out);
  fs::create_directory(folder / "workers");
  EXPECT_EQ(watch.wait(20s), Event::changed);
  EXPECT_EQ(watch.wait(0ms), Event::timed_out);
}

TEST(FolderWatch, an_unwatched_entry_beside_a_watched_one_hides_no_change) {
  const testing::TemporaryFolder folder;
  auto watch = FolderWatch::open().value();
  watch.watch({{folder.path(), "workers"}});
  for (int i = 0; i < 100; ++i) std::ofstream(folder / std::to_string(i)) << "x";
  std::ofstream(folder / "workers") << "x";
  EXPECT_EQ(watch.wait(0ms), Event::changed);
}

TEST(FolderWatch, a_folder_that_is_watched_by_two_names_counts_for_both) {
  const testing::TemporaryFolder folder;
  fs::create_directory(folder / "real");
  fs::create_directory_symlink("real", folder / "link");
  auto watch = FolderWatch::open().value();
  watch.watch({{folder / "real", "a"}, {folder / "link", "b"}});
  std::ofstream(folder / "real/c") << "x";
  EXPECT_EQ(watch.wait(0ms), Event::timed_out);
  std::ofstream(folder / "real/b") << "x";
  EXPECT_EQ(watch.wait(0ms), Event::changed);
  watch.watch({{folder / "real", "a"}});
  std::ofstream(folder / "real/b") << "y";
  EXPECT_EQ(watch.wait(0ms), Event::timed_out);
  std::ofstream(folder / "real/a") << "y";
  EXPECT_EQ(watch.wait(0ms), Event::changed);
}

TEST(FolderWatch, a_folder_that_is_replaced_is_followed_when_it_is_named_again) {
  const testing::TemporaryFolder folder;
  fs::create_directory(folder / "workers");
  auto watch = FolderWatch::open().value();
  watch.watch({{folder / "workers"}});
  fs::rename(folder / "workers", folder / "old");
  EXPECT_EQ(watch.wait(0ms), Event::changed);
  fs::create_directory(folder / "workers");
  watch.watch({{folder / "workers"}});
  std::ofstream(folder / "old/a") << "x";
  EXPECT_EQ(watch.wait(0ms), Event::timed_out);
  std::ofstream(folder / "workers/a") << "x";
  EXPECT_EQ(watch.wait(0ms), Event::changed);
}

TEST(FolderWatch, a_wake_up_is_told_apart) {
  auto watch = FolderWatch::open().value();
  watch.wake();
  watch.wake();
  EXPECT_EQ(watch.wait(0ms), Event::woken);
  EXPECT_EQ(watch.wait(0ms), Event::timed_out);
}

}  // namespace
}  // namespace muster
