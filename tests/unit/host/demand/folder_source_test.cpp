#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/testing/fake_host.hpp>

#include "host/demand/source.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::demand {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct FolderSourceTest : ::testing::Test {
  testing::TemporaryFolder place;
  testing::FakeContext context;
  config::DemandSettings settings;
  const WorkerPoolId a{"p/a"}, b{"p/b"};

  FolderSourceTest() { settings.folder = place / "tasks"; }

  Result<Answer> poll() { return folder_source(settings)->poll({a, b}, context); }

  void task(const std::string& name) const {
    const fs::path file = settings.folder / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "true\n";
  }
};

TEST_F(FolderSourceTest, a_folder_that_is_missing_is_an_error_that_says_what_to_do) {
  const auto answer = poll();
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("mkdir -p " + settings.folder.string()));
  EXPECT_THAT(folder_source(settings)->folders_to_watch(),
              ElementsAre(WatchedFolder(place.path(), settings.folder.filename().string())));
  std::ofstream(settings.folder) << "no folder";
  EXPECT_FALSE(poll());
}

TEST_F(FolderSourceTest, what_is_no_task_does_not_count) {
  task("p/a/.hidden.task");
  task("p/a/readme.txt");
  task("p/a/noext");
  task("p/a/done/old.task");
  fs::create_directory(settings.folder / "p/a/folder.task");
  fs::create_symlink("/etc/passwd", settings.folder / "p/a/link.task");
  ASSERT_EQ(::mkfifo((settings.folder / "p/a/pipe.task").c_str(), 0600), 0);
  const auto answer = poll();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->counts.at(a), (Count{0, {}, context.now()}));
}

TEST_F(FolderSourceTest, links_lead_nowhere) {
  task("q/a/1.task");
  fs::create_directory_symlink(settings.folder / "q", settings.folder / "p");
  ASSERT_TRUE(poll());
  EXPECT_EQ(poll()->counts.at(a).pending, 0);
  const WorkerPoolId outside("../etc");
  EXPECT_EQ(folder_source(settings)->poll({outside}, context)->counts.at(outside).pending, 0);
}

TEST_F(FolderSourceTest, a_pool_that_no_folder_can_be_named_after_has_nothing) {
  task("p/a/1.task");
  const WorkerPoolId long_name("p/" + std::string(300, 'x'));
  const auto answer = folder_source(settings)->poll({a, long_name}, context);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->counts.at(a).pending, 1);
  EXPECT_EQ(answer->counts.at(long_name).pending, 0);
}

TEST_F(FolderSourceTest, counting_ends_when_the_host_does) {
  for (int i = 0; i < 1'001; ++i) task("p/a/" + std::to_string(i) + ".task");
  context.cancel();
  const auto answer = poll();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().error_class, ErrorClass::cancelled);
}

TEST_F(FolderSourceTest, tasks_wait_or_are_claimed) {
  task("p/a/1.task");
  task("p/a/2.task");
  task("p/a/taken/4.task.some-worker");  // and not begun
  task("p/a/taken/.some-worker");
  task("p/a/claimed/3.task.some-worker");
  task("p/a/claimed/3.task.some-worker.log");
  task("p/b/1.task");
  const auto answer = poll();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->counts.at(a), (Count{3, 1, context.now()}));
  EXPECT_EQ(answer->counts.at(b), (Count{1, {}, context.now()}));
}

TEST_F(FolderSourceTest, tasks_of_pools_that_nobody_knows_are_told) {
  task("p/other/1.task");
  fs::create_directories(settings.folder / "p/empty");
  EXPECT_THAT(poll()->unknown_pools, ElementsAre("p/other"));
}

TEST_F(FolderSourceTest, every_folder_where_something_can_happen_is_watched) {
  task("p/a/claimed/1.task");
  const auto watched = folder_source(settings)->folders_to_watch();
  for (const char* name : {"p", "p/a", "p/a/claimed"})
    EXPECT_THAT(watched, Contains(settings.folder / name));
  EXPECT_THAT(watched, Contains(settings.folder));
}

}  // namespace
}  // namespace muster::demand
