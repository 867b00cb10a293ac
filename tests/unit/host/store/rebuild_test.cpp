// A damaged database is replaced from memory, and commits go on.
#include <algorithm>
#include <fcntl.h>
#include <fstream>
#include <future>
#include <unistd.h>

#include "host/store/committer.hpp"
#include "lib/base/fake_clock.hpp"
#include "lib/base/file_descriptor.hpp"
#include "tests/unit/host/store/test_tables.hpp"

namespace muster::store::testing {
namespace {

namespace fs = std::filesystem;
using muster::testing::TemporaryFolder;
using Numbers = std::vector<std::int64_t>;

class RebuildTest : public ::testing::Test {
 protected:
  std::unique_ptr<SqliteStore> open() {
    SqliteSettings settings = test_settings();
    settings.clock = std::make_shared<FakeClock>();
    return open_store(file, settings);
  }
  // 2000 things and 2000 parts, with nonsense in two places of the file.
  std::unique_ptr<SqliteStore> open_damaged() {
    auto store = open();
    Batch batch;
    for (std::int64_t i = 0; i < 2000; ++i) {
      batch.emplace_back(thing(i, std::string(200, 'x')));
      batch.emplace_back(part("p", i, std::string(200, 'y')));
    }
    EXPECT_TRUE(store->commit(batch));
    store = nullptr;  // all is in the file now, nothing in the log
    const auto pages = fs::file_size(file) / 4096;
    const FileDescriptor opened(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    const std::string nonsense(4096, '\xee');
    for (std::size_t page = pages / 4; page < pages / 4 + 5; ++page)
      EXPECT_EQ(::pwrite(opened.get(), nonsense.data(), 4096, static_cast<off_t>(page * 4096)),
                4096);
    for (std::size_t page = 3 * pages / 4; page < 3 * pages / 4 + 5; ++page)
      EXPECT_EQ(::pwrite(opened.get(), nonsense.data(), 4096, static_cast<off_t>(page * 4096)),
                4096);
    return open();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder.path()))
      found.push_back(entry.path().filename());
    std::sort(found.begin(), found.end());
    return found;
  }

  TemporaryFolder folder;
  fs::path file = folder / "a.db";
  // The fake clock stands at 2001-09-09T01:46:40.000Z.
  fs::path away = folder / "a.db.damaged-20010909T014640.000Z";
};

TEST_F(RebuildTest, a_rebuild_that_does_not_fit_is_refused) {
  const auto store = open();
  ASSERT_TRUE(store->commit({thing(1)}));
  EXPECT_FALSE(store->rebuild({Put{&things, {}}}));
  EXPECT_EQ(numbers_of(*store, {&things}), (Numbers{1}));
}

TEST_F(RebuildTest, it_has_what_memory_knows_and_the_old_file_is_kept) {
  const auto store = open_damaged();
  const auto read = store->scan({&things}, [](auto) { return true; });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().error_class, ErrorClass::internal);
  const auto rebuilt = store->rebuild({thing(1), thing(2)});
  ASSERT_TRUE(rebuilt) << rebuilt.error().message;
  EXPECT_EQ(numbers_of(*store, {&things}), (Numbers{1, 2}));
  EXPECT_EQ(numbers_of(*store, {&parts}), (Numbers{}));
  ASSERT_TRUE(store->commit({thing(3)}));
  EXPECT_EQ(numbers_of(*store, {&things}), (Numbers{1, 2, 3}));
  EXPECT_TRUE(fs::exists(away));
  EXPECT_FALSE(fs::exists(file.string() + ".rebuilt"));
  EXPECT_FALSE(fs::exists(file.string() + ".unfinished"));
}

TEST_F(RebuildTest, two_rebuilds_in_one_moment_keep_both_old_files) {
  auto store = open();
  ASSERT_TRUE(store->rebuild({thing(1)}));
  ASSERT_TRUE(store->rebuild({thing(2)}));
  EXPECT_EQ(numbers_of(*store, {&things}), (Numbers{2}));
  EXPECT_TRUE(fs::exists(away));
  EXPECT_TRUE(fs::exists(away.string() + "-2"));
  store = nullptr;
  EXPECT_EQ(numbers_of(*open(), {&things}), (Numbers{2}));
}

TEST_F(RebuildTest, rows_around_the_damage_are_saved) {
  const auto store = open_damaged();
  constexpr std::array salvage{&parts};
  ASSERT_TRUE(store->rebuild({thing(1), part("p", 0, "newer")}, salvage));
  const auto saved = numbers_of(*store, {&parts});
  EXPECT_EQ(saved.front(), 0);
  EXPECT_EQ(saved.back(), 1999);
  EXPECT_GT(saved.size(), 200U);
  EXPECT_LT(saved.size(), 2000U) << "the test damaged nothing";
  EXPECT_EQ(rows_of(*store, {&parts})[0][2], Value("newer")) << "memory knows better";
}

TEST_F(RebuildTest, the_log_of_the_damaged_file_goes_with_it) {
  const auto store = open();
  ASSERT_TRUE(store->commit({thing(1)}));
  ASSERT_TRUE(store->rebuild({thing(2)}));
  EXPECT_TRUE(fs::exists(away.string() + "-wal"));
  SqliteSettings settings = test_settings();
  EXPECT_EQ(numbers_of(*open_store(away, settings), {&things}), (Numbers{1}));
}

TEST_F(RebuildTest, a_crash_before_the_new_file_is_in_place_is_finished_by_the_next_opening) {
  open()->commit({thing(1)}).value();
  open_store(folder / "new.db")->commit({thing(2)}).value();
  fs::rename(folder / "new.db", file.string() + ".rebuilt");
  EXPECT_EQ(numbers_of(*open(), {&things}), (Numbers{2}));
  EXPECT_TRUE(fs::exists(away));

  fs::rename(file, file.string() + ".rebuilt");  // the old one was moved away, the new one not in
  EXPECT_EQ(numbers_of(*open(), {&things}), (Numbers{2}));

  open_store(folder / "new.db")->commit({thing(3)}).value();
  fs::rename(folder / "new.db", file.string() + ".unfinished");  // counts for nothing
  EXPECT_EQ(numbers_of(*open(), {&things}), (Numbers{2}));
}

TEST_F(RebuildTest, a_file_that_somebody_removed_is_noticed_and_written_again) {
  const auto store = open();
  ASSERT_TRUE(store->commit({thing(1)}));
  fs::remove(file);
  const auto gone = store->commit({thing(2)});
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().error_class, ErrorClass::internal);
  EXPECT_NE(gone.error().message.find("was moved, removed or replaced"), std::string::npos);
  ASSERT_TRUE(store->rebuild({thing(1)}));
  ASSERT_TRUE(store->commit({thing(2)}));
  EXPECT_EQ(numbers_of(*store, {&things}), (Numbers{1, 2}));
}

TEST_F(RebuildTest, a_scan_under_way_ends_with_an_error_and_the_next_one_works) {
  const auto store = open();
  Batch batch;
  for (std::int64_t i = 0; i < 100; ++i) batch.emplace_back(thing(i));
  ASSERT_TRUE(store->commit(batch));
  std::future<Result<void>> rebuilt;
  int seen = 0;
  const auto scanned = store->scan({&things}, [&](auto) {
    if (++seen == 1)
      rebuilt = std::async(std::launch::async, [&] { return store->rebuild({thing(7)}); });
    while (store->scan({&parts}, [](auto) { return true; })) {
    }  // until the rebuild waits for this scan to end
    return true;
  });
  ASSERT_FALSE(scanned);
  EXPECT_EQ(scanned.error().error_class, ErrorClass::transient);
  EXPECT_EQ(seen, 1);
  ASSERT_TRUE(rebuilt.get());
  EXPECT_EQ(numbers_of(*store, {&things}), (Numbers{7}));
}

TEST_F(RebuildTest, the_committer_replaces_a_damaged_database_and_loses_nothing) {
  using namespace std::chrono_literals;
  const auto store = open_damaged();
  FakeClock clock;
  CommitterSettings settings;
  settings.replace_damaged = [&](const Error&) {
    Batch everything;
    for (std::int64_t i = 0; i < 2000; ++i) everything.emplace_back(thing(i, "from memory"));
    return store->rebuild(everything);
  };
  Committer committer(*store, clock, Log(), std::move(settings));
  std::promise<void> durable;
  Batch batch;
  for (std::int64_t i = 0; i < 2000; i += 2) batch.emplace_back(thing(i, "changed"));
  committer.submit(std::move(batch));
  committer.submit({thing(5000)}, [&] { durable.set_value(); });
  ASSERT_EQ(durable.get_future().wait_for(20s), std::future_status::ready);
  const Rows rows = rows_of(*store, {&things});
  ASSERT_EQ(rows.size(), 2001U);
  EXPECT_EQ(rows[0][1], Value("changed"));
  EXPECT_EQ(rows[1][1], Value("from memory"));
  EXPECT_TRUE(fs::exists(away));
}

}  // namespace
}  // namespace muster::store::testing
