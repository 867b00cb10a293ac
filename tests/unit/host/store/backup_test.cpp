#include <atomic>
#include <fstream>
#include <sys/stat.h>
#include <thread>

#include "tests/unit/host/store/test_tables.hpp"

namespace muster::store::testing {
namespace {

namespace fs = std::filesystem;
using muster::testing::TemporaryFolder;

class BackupTest : public ::testing::Test {
 protected:
  BackupTest() {
    fs::create_directory(folder / "backups");
    EXPECT_TRUE(store->commit({thing(1), part("a", 1)}));
  }
  void expect_refused(const fs::path& to, ErrorClass expected) {
    const auto copied = store->backup(to.string());
    ASSERT_FALSE(copied);
    EXPECT_EQ(copied.error().error_class, expected) << copied.error().message;
  }
  std::vector<std::string> backups() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder / "backups"))
      names.push_back(entry.path().filename());
    return names;
  }

  TemporaryFolder folder;
  fs::path target = folder / "backups/one.db";
  std::unique_ptr<SqliteStore> store = open_store(folder / "a.db");
};

TEST_F(BackupTest, an_existing_file_is_never_overwritten) {
  std::ofstream(target) << "mine";
  expect_refused(target, ErrorClass::invalid);
  EXPECT_EQ(fs::file_size(target), 4U);
  expect_refused(folder / "a.db", ErrorClass::invalid);
  expect_refused(folder.path(), ErrorClass::invalid);
  EXPECT_EQ(backups().size(), 1U);
}

TEST_F(BackupTest, a_place_that_is_none_is_refused) {
  expect_refused("", ErrorClass::invalid);
  expect_refused(folder / "nowhere/a.db", ErrorClass::not_found);
  expect_refused(folder / "a.db/b.db", ErrorClass::transient);  // a file is no folder
}

TEST_F(BackupTest, a_damaged_database_gives_no_backup) {
  Batch batch;
  for (std::int64_t i = 0; i < 2000; ++i) batch.emplace_back(thing(i, std::string(100, 'x')));
  ASSERT_TRUE(store->commit(batch));
  store = nullptr;
  {
    std::fstream file(folder / "a.db", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(10 * 4096);
    file << std::string(4096, '\xee');
  }
  store = open_store(folder / "a.db");
  expect_refused(target, ErrorClass::internal);
  EXPECT_TRUE(backups().empty());
}

TEST_F(BackupTest, a_backup_opens_as_a_store) {
  ASSERT_TRUE(store->backup(target.string()));
  struct stat status {};
  ASSERT_EQ(::stat(target.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_EQ(backups(), std::vector<std::string>{"one.db"});
  const auto copy = open_store(target);
  EXPECT_EQ(rows_of(*copy, {&things}), rows_of(*store, {&things}));
  EXPECT_EQ(rows_of(*copy, {&parts}), rows_of(*store, {&parts}));
  EXPECT_TRUE(copy->commit({thing(2)}));
}

TEST_F(BackupTest, backups_are_whole_while_commits_go_on) {
  Batch large;
  for (std::int64_t i = 0; i < 5000; ++i) large.emplace_back(thing(i, std::string(1000, 'x')));
  ASSERT_TRUE(store->commit(large));
  std::atomic<bool> done = false;
  std::atomic<std::int64_t> commits = 0;
  std::thread writer([&] {
    for (std::int64_t i = 1; !done; ++i) {
      EXPECT_TRUE(store->commit({thing(0, "x", 1.0, i), thing(4999, "x", 1.0, i)}));
      commits = i;
    }
  });
  for (int i = 0; i < 3; ++i) {
    const fs::path to = folder / ("backups/" + std::to_string(i));
    const std::int64_t before = commits;
    const auto copied = store->backup(to.string());
    EXPECT_TRUE(copied) << copied.error().message;
    const Rows rows = rows_of(*open_store(to), {&things});
    EXPECT_EQ(rows.size(), 5000U);
    EXPECT_EQ(rows.front()[3], rows.back()[3]) << "a torn batch";
    EXPECT_GE(std::get<std::int64_t>(rows.front()[3]), before);
  }
  done = true;
  writer.join();
}

}  // namespace
}  // namespace muster::store::testing
