// Opening: what is refused, what is made, who may read it.
#include <algorithm>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "tests/unit/host/store/test_tables.hpp"

namespace muster::store::testing {
namespace {

namespace fs = std::filesystem;
using muster::testing::TemporaryFolder;

mode_t mode_of(const fs::path& file) {
  struct stat status {};
  EXPECT_EQ(::stat(file.c_str(), &status), 0) << file;
  return status.st_mode & 07777;
}

class SqliteStoreTest : public ::testing::Test {
 protected:
  Error refused(ErrorClass expected) {
    const auto opened = SqliteStore::open(file, test_settings());
    if (opened) {
      ADD_FAILURE() << "it was opened";
      return {};
    }
    EXPECT_EQ(opened.error().error_class, expected) << opened.error().message;
    EXPECT_NE(opened.error().message.find(file.string()), std::string::npos)
        << opened.error().message;
    return opened.error();
  }
  void write(std::string_view content) const { std::ofstream(file) << content; }
  std::string content(const fs::path& of) const {
    std::ifstream in(of, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // By sqlite3 itself, as another program would.
  void run(const char* sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

  TemporaryFolder folder;
  fs::path file = folder / "muster.db";
};

TEST_F(SqliteStoreTest, what_is_no_database_is_refused_and_left_alone) {
  const std::string text(5000, 'x');
  write(text);
  EXPECT_NE(refused(ErrorClass::config).message.find("is not an SQLite database"),
            std::string::npos);
  EXPECT_EQ(content(file), text);
}

TEST_F(SqliteStoreTest, an_empty_file_is_damage_and_not_a_new_beginning) {
  write("");
  EXPECT_NE(refused(ErrorClass::internal).message.find("put a backup in its place"),
            std::string::npos);
}

TEST_F(SqliteStoreTest, a_folder_a_pipe_and_a_missing_folder_are_refused) {
  fs::create_directory(file);
  refused(ErrorClass::config);
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  refused(ErrorClass::config);
  file = folder / "nowhere/muster.db";
  refused(ErrorClass::not_found);
}

TEST_F(SqliteStoreTest, the_database_of_another_program_is_refused_and_left_alone) {
  run("CREATE TABLE bookmarks (url TEXT)");
  const std::string before = content(file);
  EXPECT_NE(refused(ErrorClass::config).message.find("of another program"), std::string::npos);
  run("PRAGMA application_id = 252006675");
  refused(ErrorClass::config);
  EXPECT_EQ(content(file).size(), before.size());
}

TEST_F(SqliteStoreTest, a_newer_database_is_refused_with_who_wrote_it_and_what_to_do) {
  open_store(file);
  run("INSERT INTO migrations VALUES (7, '9.9.9'); PRAGMA user_version = 7");
  const std::string message = refused(ErrorClass::config).message;
  EXPECT_NE(message.find("was written by muster 9.9.9 (version 7"), std::string::npos) << message;
  EXPECT_NE(message.find("knows versions up to 2"), std::string::npos) << message;
  EXPECT_NE(message.find(".before-3"), std::string::npos) << message;
}

TEST_F(SqliteStoreTest, a_database_that_lost_a_table_or_a_column_is_damaged) {
  open_store(file);
  run("ALTER TABLE parts DROP COLUMN note");
  EXPECT_NE(refused(ErrorClass::internal).message.find("parts.note TEXT"), std::string::npos);
  run("DROP TABLE parts");
  refused(ErrorClass::internal);
}

TEST_F(SqliteStoreTest, what_somebody_added_for_himself_is_no_damage) {
  open_store(file)->commit({thing(1)}).value();
  run("CREATE INDEX mine ON things (at); CREATE TABLE my_notes (a)");
  EXPECT_EQ(numbers_of(*open_store(file), {&things}).size(), 1U);
}

TEST_F(SqliteStoreTest, a_log_without_its_database_is_refused) {
  std::ofstream(file.string() + "-wal") << "the last commits";
  EXPECT_NE(refused(ErrorClass::config).message.find("put the file back"), std::string::npos);
  fs::remove(file.string() + "-wal");
  std::ofstream(file.string() + "-wal") << "";
  EXPECT_TRUE(SqliteStore::open(file, test_settings()));
}

TEST_F(SqliteStoreTest, a_second_opening_is_refused_while_the_first_is_there) {
  auto first = open_store(file);
  EXPECT_NE(refused(ErrorClass::config).message.find("in use already"), std::string::npos);
  ASSERT_TRUE(first->commit({thing(1)}));
  first.reset();
  EXPECT_EQ(numbers_of(*open_store(file), {&things}).size(), 1U);
}

TEST_F(SqliteStoreTest, a_folder_that_may_not_be_written_is_refused) {
  if (::geteuid() == 0) {
    // Nothing forbids root to write; a folder that is none does.
    write("x");
    file = file / "muster.db";
    const auto opened = SqliteStore::open(file, test_settings());
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().message.find(file.string()), std::string::npos);
    return;
  }
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  refused(ErrorClass::config);
  fs::permissions(folder.path(), fs::perms::owner_all);
}

TEST_F(SqliteStoreTest, nobody_else_may_read_the_files) {
  const auto store = open_store(file);
  ASSERT_TRUE(store->commit({thing(1)}));
  for (const auto& entry : fs::directory_iterator(folder.path()))
    EXPECT_EQ(mode_of(entry.path()), 0600U) << entry.path();
  ASSERT_TRUE(fs::exists(file.string() + "-wal"));
}

TEST_F(SqliteStoreTest, a_mode_that_is_too_wide_is_narrowed) {
  open_store(file);
  ::chmod(file.c_str(), 0644);
  open_store(file);
  EXPECT_EQ(mode_of(file), 0600U);
}

TEST_F(SqliteStoreTest, what_was_committed_is_there_after_opening_again) {
  open_store(file)->commit({thing(1), part("a", 2)}).value();
  const auto store = open_store(file);
  EXPECT_EQ(numbers_of(*store, {&things}), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(numbers_of(*store, {&parts}), (std::vector<std::int64_t>{2}));
}

TEST_F(SqliteStoreTest, closing_leaves_no_log_and_nothing_unfinished) {
  open_store(file)->commit({thing(1)}).value();
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"muster.db", "muster.db.lock", "muster.db.mark"}));
}

TEST_F(SqliteStoreTest, a_link_to_the_database_stays_a_link) {
  fs::create_directory(folder / "other");
  open_store(folder / "other/muster.db")->commit({thing(1)}).value();
  fs::create_symlink(folder / "other/muster.db", file);
  const auto store = open_store(file);
  ASSERT_TRUE(store->rebuild({thing(2)}));
  EXPECT_TRUE(fs::is_symlink(file));
  EXPECT_EQ(numbers_of(*store, {&things}), (std::vector<std::int64_t>{2}));
}

TEST_F(SqliteStoreTest, the_log_does_not_grow_without_bound) {
  SqliteSettings settings = test_settings();
  settings.checkpoint_pages = 10;
  settings.log_limit_bytes = 64 * 1024;
  settings.synchronous_full = false;
  const auto store = open_store(file, settings);
  for (std::int64_t i = 0; i < 300; ++i)
    ASSERT_TRUE(store->commit({thing(i % 7, std::string(10'000, 'x'))}));
  EXPECT_LT(fs::file_size(file.string() + "-wal"), 300U * 1024);
}

}  // namespace
}  // namespace muster::store::testing
