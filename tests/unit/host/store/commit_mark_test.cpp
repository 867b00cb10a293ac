// A store that lost acknowledged commits says which.
#include <fstream>

#include "lib/base/fake_clock.hpp"
#include "tests/unit/host/store/test_tables.hpp"

namespace muster::store::testing {
namespace {

namespace fs = std::filesystem;
using muster::testing::TemporaryFolder;

class CommitMarkTest : public ::testing::Test {
 protected:
  std::unique_ptr<SqliteStore> open() {
    SqliteSettings settings = test_settings();
    settings.clock = clock;
    return open_store(file, settings);
  }
  // The files as a crash would leave them: the log is not carried over.
  void crash_after(int commits) {
    const auto store = open();
    for (int i = 1; i <= commits; ++i) ASSERT_TRUE(store->commit({thing(i)}));
    fs::create_directory(folder / "kept");
    for (const char* suffix : {"", "-wal", ".mark"})
      fs::copy_file(file.string() + suffix, folder / "kept" / (std::string("a.db") + suffix));
  }
  void bring_back() {
    for (const char* suffix : {"", "-wal", ".mark"})
      fs::copy_file(folder / "kept" / (std::string("a.db") + suffix), file.string() + suffix,
                    fs::copy_options::overwrite_existing);
  }
  std::string text_of_mark() const {
    std::ifstream in(file.string() + ".mark");
    return {std::istreambuf_iterator<char>(in), {}};
  }

  TemporaryFolder folder;
  fs::path file = folder / "a.db";
  std::shared_ptr<FakeClock> clock = std::make_shared<FakeClock>();
};

TEST_F(CommitMarkTest, a_mark_that_cannot_be_understood_is_no_mark) {
  open()->commit({thing(1)}).value();
  const std::string good = text_of_mark();
  for (const std::string& bad :
       {std::string(), std::string("nonsense"), good.substr(0, good.size() - 2),
        std::string(good.size(), '\xff'), "muster-mark 1 9" + good.substr(15)}) {
    std::ofstream(file.string() + ".mark") << bad;
    EXPECT_FALSE(open()->missing()) << bad;
  }
  fs::remove(file.string() + ".mark");
  EXPECT_FALSE(open()->missing());
  fs::create_directory(file.string() + ".mark");
  const auto store = open();
  EXPECT_FALSE(store->missing());
  EXPECT_TRUE(store->commit({thing(2)})) << "a commit does not need it";
}

TEST_F(CommitMarkTest, nothing_is_missing_after_an_end_or_a_crash) {
  crash_after(5);
  EXPECT_FALSE(open()->missing()) << "it ended well";
  bring_back();
  EXPECT_FALSE(open()->missing()) << "the log has all";
  EXPECT_EQ(numbers_of(*open(), {&things}).size(), 5U);
}

TEST_F(CommitMarkTest, a_log_that_is_gone_is_noticed_once_and_numbers_go_on) {
  crash_after(5);
  bring_back();
  fs::remove(file.string() + "-wal");
  {
    const auto store = open();
    ASSERT_TRUE(store->missing());
    EXPECT_EQ(store->missing()->have.number, 0);
    EXPECT_EQ(store->missing()->expected, (Commit{5, clock->now()}));
    const std::string sentence = to_string(*store->missing(), file);
    EXPECT_NE(sentence.find("change 5 of 2001-09-09T01:46:40.000Z was acknowledged: 5 are missing"),
              std::string::npos)
        << sentence;
    ASSERT_TRUE(store->commit({thing(6)}));
  }
  EXPECT_FALSE(open()->missing());
  EXPECT_NE(text_of_mark().find("0000000000000000006 "), std::string::npos);
}

TEST_F(CommitMarkTest, a_log_that_is_damaged_in_the_middle_says_what_is_left) {
  crash_after(5);
  bring_back();
  const auto size = fs::file_size(file.string() + "-wal");
  {
    std::fstream log(file.string() + "-wal", std::ios::in | std::ios::out | std::ios::binary);
    log.seekp(static_cast<std::streamoff>(size * 3 / 4));
    log << "damage";
  }
  const auto store = open();
  ASSERT_TRUE(store->missing());
  EXPECT_GT(store->missing()->have.number, 0);
  EXPECT_LT(store->missing()->have.number, 5);
  EXPECT_EQ(static_cast<std::int64_t>(numbers_of(*store, {&things}).size()),
            store->missing()->have.number);
}

TEST_F(CommitMarkTest, an_older_copy_in_its_place_is_noticed) {
  {
    const auto store = open();
    ASSERT_TRUE(store->commit({thing(1)}));
    ASSERT_TRUE(store->backup(folder / "backup.db"));
    ASSERT_TRUE(store->commit({thing(2)}));
  }
  fs::rename(folder / "backup.db", file);
  const auto store = open();
  ASSERT_TRUE(store->missing());
  EXPECT_EQ(store->missing()->have.number, 1);
  EXPECT_EQ(store->missing()->expected.number, 2);
}

TEST_F(CommitMarkTest, a_crash_right_after_a_rebuild_misses_nothing) {
  {
    const auto store = open();
    for (int i = 1; i <= 3; ++i) ASSERT_TRUE(store->commit({thing(i)}));
    ASSERT_TRUE(store->rebuild({thing(1)}));
  }
  EXPECT_FALSE(open()->missing());
}

}  // namespace
}  // namespace muster::store::testing
