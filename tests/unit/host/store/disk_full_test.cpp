// A disk without room, in the two ways that a process can have without being root: SQLite's own
// bound, and the kernel's bound for the size of a file.
#include <csignal>
#include <future>
#include <sys/resource.h>

#include "host/store/committer.hpp"
#include "lib/base/fake_clock.hpp"
#include "tests/unit/host/store/test_tables.hpp"

namespace muster::store::testing {
namespace {

namespace fs = std::filesystem;
using muster::testing::TemporaryFolder;

// No file of this process grows beyond this, until the end of its life.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : before_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit lower{bytes, limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &lower);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, before_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit limit_{};
  void (*before_)(int);
};

Batch large_batch(std::int64_t from) {
  Batch batch;
  for (std::int64_t i = from; i < from + 300; ++i)
    batch.emplace_back(thing(i, std::string(1000, 'x')));
  return batch;
}

TEST(DiskFullTest, a_batch_without_room_is_not_there_and_goes_in_when_there_is_room) {
  const TemporaryFolder folder;
  const auto store = open_store(folder / "a.db");
  ASSERT_TRUE(store->commit({thing(-1)}));
  {
    const FileSizeLimit limit(100'000);
    for (int attempt = 0; attempt < 3; ++attempt) {
      const auto full = store->commit(large_batch(0));
      ASSERT_FALSE(full);
      EXPECT_EQ(full.error().error_class, ErrorClass::capacity) << full.error().message;
      EXPECT_NE(full.error().message.find("make room"), std::string::npos);
      EXPECT_EQ(numbers_of(*store, {&things}).size(), 1U) << "reading goes on";
    }
    EXPECT_TRUE(store->commit({thing(-2)})) << "what fits is taken";
  }
  ASSERT_TRUE(store->commit(large_batch(0)));
  EXPECT_EQ(numbers_of(*store, {&things}).size(), 302U);
}

TEST(DiskFullTest, the_bound_of_the_file_is_a_full_disk) {
  const TemporaryFolder folder;
  SqliteSettings settings = test_settings();
  settings.max_pages = 50;
  auto store = open_store(folder / "a.db", settings);
  const auto full = store->commit(large_batch(0));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().error_class, ErrorClass::capacity);
  ASSERT_TRUE(store->commit({thing(1)}));
  store = nullptr;
  store = open_store(folder / "a.db");
  ASSERT_TRUE(store->commit(large_batch(0)));
  EXPECT_EQ(numbers_of(*store, {&things}).size(), 300U);
}

TEST(DiskFullTest, a_backup_without_room_leaves_nothing_behind) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "backups");
  const auto store = open_store(folder / "a.db");
  ASSERT_TRUE(store->commit(large_batch(0)));
  {
    const FileSizeLimit limit(100'000);
    const auto copied = store->backup(folder / "backups/a.db");
    ASSERT_FALSE(copied);
    EXPECT_NE(copied.error().message.find("no room for the copy"), std::string::npos);
    EXPECT_EQ(copied.error().error_class, ErrorClass::capacity) << copied.error().message;
  }
  EXPECT_TRUE(fs::is_empty(folder / "backups"));
  EXPECT_TRUE(store->backup(folder / "backups/a.db"));
}

TEST(DiskFullTest, a_rebuild_without_room_changes_nothing) {
  const TemporaryFolder folder;
  const auto store = open_store(folder / "a.db");
  ASSERT_TRUE(store->commit({thing(1)}));
  {
    const FileSizeLimit limit(100'000);
    const auto rebuilt = store->rebuild(large_batch(0));
    ASSERT_FALSE(rebuilt);
    EXPECT_EQ(rebuilt.error().error_class, ErrorClass::capacity) << rebuilt.error().message;
  }
  ASSERT_TRUE(store->commit({thing(2)}));
  EXPECT_EQ(numbers_of(*store, {&things}), (std::vector<std::int64_t>{1, 2}));
  for (const auto& entry : fs::directory_iterator(folder.path()))
    EXPECT_EQ(entry.path().string().find("unfinished"), std::string::npos) << entry.path();
}

TEST(DiskFullTest, a_new_database_without_room_is_not_begun) {
  const TemporaryFolder folder;
  {
    const FileSizeLimit limit(5000);
    const auto opened = SqliteStore::open(folder / "a.db", test_settings());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().error_class, ErrorClass::capacity) << opened.error().message;
  }
  EXPECT_TRUE(SqliteStore::open(folder / "a.db", test_settings()));
}

TEST(DiskFullTest, the_committer_waits_for_room_and_loses_nothing) {
  using namespace std::chrono_literals;
  const TemporaryFolder folder;
  const auto store = open_store(folder / "a.db");
  FakeClock clock;
  std::promise<Health> failing;
  std::promise<void> durable;
  CommitterSettings settings;
  settings.listener = [&](const Health& health) {
    if (!health.ok) failing.set_value(health);
  };
  Committer committer(*store, clock, Log(), std::move(settings));
  {
    const FileSizeLimit limit(100'000);
    committer.submit(large_batch(0));
    auto told = failing.get_future();
    ASSERT_EQ(told.wait_for(10s), std::future_status::ready);
    EXPECT_NE(told.get().sentence.find("its disk is full"), std::string::npos);
    committer.submit({thing(0, "after")}, [&] { durable.set_value(); });
  }
  committer.retry_now();
  ASSERT_EQ(durable.get_future().wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(committer.health().ok);
  EXPECT_EQ(numbers_of(*store, {&things}).size(), 300U);
  EXPECT_EQ(rows_of(*store, {&things})[0][1], Value("after"));
}

}  // namespace
}  // namespace muster::store::testing
