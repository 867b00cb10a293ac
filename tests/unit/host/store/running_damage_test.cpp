// Damage that comes while the store is in use: whatever meets it first tells of it.
#include <atomic>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

#include "lib/base/file_descriptor.hpp"
#include "tests/unit/host/store/test_tables.hpp"

namespace muster::store::testing {
namespace {

namespace fs = std::filesystem;
using muster::testing::TemporaryFolder;

constexpr off_t page_size = 4096;

// Turns every bit of one byte.
void flip(const fs::path& file, off_t offset) {
  const FileDescriptor opened(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  unsigned char byte = 0;
  ASSERT_EQ(::pread(opened.get(), &byte, 1, offset), 1) << file << " has no byte " << offset;
  byte = static_cast<unsigned char>(~byte);
  ASSERT_EQ(::pwrite(opened.get(), &byte, 1, offset), 1);
}

class RunningDamageTest : public ::testing::Test {
 protected:
  // With rows in the file and in the log.
  void SetUp() override {
    SqliteSettings settings = test_settings();
    settings.checkpoint_pages = 200;
    store = open_store(file, settings);
    store->on_damage([this](const Error& error) {
      ++reports;
      last_report = error.message;
    });
    Batch batch;
    for (std::int64_t i = 0; i < 5000; ++i) batch.emplace_back(thing(i, std::string(200, 'x')));
    ASSERT_TRUE(store->commit(batch));
    ASSERT_TRUE(store->commit({thing(0)}));  // what was in the log is in the file now
    ASSERT_GT(pages(), 200);
  }
  off_t pages() const { return static_cast<off_t>(fs::file_size(file)) / page_size; }
  // As many looks as a whole round takes, the tables among them.
  int looks_until_found() {
    for (int look = 1; look <= 20; ++look)
      if (!store->look_for_damage()) return look;
    return 0;
  }
  Result<void> read_all() {
    return store->scan({&things}, [](auto) { return true; });
  }

  TemporaryFolder folder;
  fs::path file = folder / "a.db";
  std::unique_ptr<SqliteStore> store;
  int reports = 0;
  std::string last_report;
};

TEST_F(RunningDamageTest, a_sound_store_is_never_accused) {
  EXPECT_EQ(looks_until_found(), 0);
  EXPECT_TRUE(read_all());
  EXPECT_TRUE(store->backup(folder / "copy.db"));
  EXPECT_EQ(reports, 0);
}

TEST_F(RunningDamageTest, a_flipped_byte_of_a_text_is_met_by_a_reader) {
  flip(file, pages() / 2 * page_size + 3000);
  const auto read = read_all();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().error_class, ErrorClass::transient) << "it is being replaced";
  EXPECT_NE(read.error().message.find("try again"), std::string::npos) << read.error().message;
  EXPECT_EQ(reports, 1);
  EXPECT_NE(last_report.find("does not hold what was written into it"), std::string::npos)
      << last_report;
}

TEST_F(RunningDamageTest, without_a_listener_a_reader_learns_that_the_store_is_damaged) {
  store->on_damage(nullptr);
  flip(file, pages() / 2 * page_size + 3000);
  const auto read = read_all();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().error_class, ErrorClass::internal);
}

TEST_F(RunningDamageTest, a_backup_tells_of_it_and_leaves_no_copy) {
  flip(file, pages() / 2 * page_size + 3000);
  const auto copied = store->backup(folder / "copy.db");
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().error_class, ErrorClass::transient) << copied.error().message;
  EXPECT_GE(reports, 1);
  EXPECT_NE(last_report.find(file.string()), std::string::npos) << "not of the copy";
  EXPECT_FALSE(fs::exists(folder / "copy.db"));
}

TEST_F(RunningDamageTest, a_flip_that_nobody_reads_is_found_by_looking_for_it) {
  ASSERT_EQ(looks_until_found(), 0);
  for (const off_t page : {off_t{0}, pages() / 3, pages() - 1}) {
    flip(file, page * page_size + 2000);
    EXPECT_GT(looks_until_found(), 0) << "page " << page;
    flip(file, page * page_size + 2000);
  }
  EXPECT_EQ(looks_until_found(), 0) << "all is as it was";
  EXPECT_EQ(reports, 3);
}

TEST_F(RunningDamageTest, a_flip_in_the_log_is_found_before_it_reaches_the_file) {
  ASSERT_TRUE(store->commit({thing(7, std::string(300, 'y'))}));
  flip(file.string() + "-wal", 32 + 24 + 2000);
  EXPECT_GT(looks_until_found(), 0);
  EXPECT_EQ(reports, 1);
}

TEST_F(RunningDamageTest, a_file_that_is_cut_off_is_found) {
  ASSERT_EQ(looks_until_found(), 0);
  fs::resize_file(file, static_cast<std::uintmax_t>((pages() - 2) * page_size));
  EXPECT_GT(looks_until_found(), 0);
}

TEST_F(RunningDamageTest, the_new_file_of_a_rebuild_is_not_compared_with_the_old_one) {
  flip(file, pages() / 2 * page_size + 3000);
  ASSERT_GT(looks_until_found(), 0);
  ASSERT_TRUE(store->rebuild({thing(1, "from memory")}));
  EXPECT_EQ(looks_until_found(), 0);
  EXPECT_TRUE(read_all());
  ASSERT_TRUE(store->commit({thing(2)}));
  EXPECT_EQ(numbers_of(*store, {&things}), (std::vector<std::int64_t>{1, 2}));
}

TEST_F(RunningDamageTest, looking_beside_commits_readers_and_checkpoints_accuses_nobody) {
  std::atomic<bool> done = false;
  std::thread looking([&] {
    while (!done) EXPECT_TRUE(store->look_for_damage());
  });
  std::thread reading([&] {
    while (!done) EXPECT_TRUE(read_all());
  });
  for (std::int64_t round = 0; round < 60; ++round) {
    Batch batch;
    for (std::int64_t i = 0; i < 100; ++i)
      batch.emplace_back(thing((round * 83 + i * 47) % 5000, std::string(250, 'z')));
    EXPECT_TRUE(store->commit(batch));
  }
  done = true;
  looking.join();
  reading.join();
  EXPECT_EQ(reports, 0) << last_report;
}

}  // namespace
}  // namespace muster::store::testing
