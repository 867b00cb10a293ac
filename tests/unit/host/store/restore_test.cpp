// Backups as files: verified, and put in place without a host.
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <gmock/gmock.h>

#include "host/fleet/model/rows.hpp"
#include "host/store/backup_file.hpp"
#include "host/store/row.hpp"
#include "lib/base/atomic_file.hpp"
#include "tests/unit/host/store/test_tables.hpp"

namespace muster::store::testing {
namespace {

namespace fs = std::filesystem;
using muster::testing::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const fs::path& file) {
  return read_file(file, std::size_t{64} << 20).value();
}

class RestoreTest : public ::testing::Test {
 protected:
  RestoreTest() {
    fs::create_directory(folder / "data");
    fs::create_directory(folder / "other");
    const auto store = open_store(folder / "data/muster.db", {});
    EXPECT_TRUE(store->commit({put(fleet::HostRow{"hostId", "host-1"}), put(worker(1))}));
    EXPECT_TRUE(store->backup(backup.string()));
    EXPECT_TRUE(store->commit({put(worker(2))}));
    std::ofstream(folder / "data/host-id") << "host-1\n";
  }

  static fleet::WorkerRow worker(std::int64_t number) {
    fleet::WorkerRow row;
    row.number = number;
    row.reason = "the text that a bit may change in";
    return row;
  }
  std::vector<std::int64_t> workers_in(const fs::path& data) {
    std::vector<std::int64_t> numbers;
    const auto store = open_store(data / "muster.db", {});
    EXPECT_TRUE(read_rows<fleet::WorkerRow>(
        *store, [&](const fleet::WorkerRow& row) { numbers.push_back(row.number); }));
    return numbers;
  }
  Result<Restored> restore(const fs::path& data, bool force = false) {
    return restore_backup({backup, data, force}, SystemClock());
  }
  void expect_refused(const Result<Restored>& outcome, const std::string& words) {
    ASSERT_FALSE(outcome);
    EXPECT_THAT(outcome.error().message, HasSubstr(words));
  }
  // Writes over some bytes of the backup.
  void overwrite(std::size_t at, const std::string& bytes) {
    std::fstream file(backup, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file << bytes;
  }

  TemporaryFolder folder;
  fs::path backup = folder / "backup.db";
};

TEST_F(RestoreTest, what_is_no_backup_is_refused_and_named) {
  std::ofstream(folder / "text")
      << "this is a text, and longer than a header of a database has to be";
  for (const fs::path& file : {folder / "text", folder / "nothing", folder.path()}) {
    const auto verified = verify_backup(file);
    ASSERT_FALSE(verified) << file;
    EXPECT_THAT(verified.error().message, HasSubstr(file.string()));
  }
  const auto running = open_store(folder / "data/muster.db", {});
  ASSERT_TRUE(running->commit({put(worker(3))}));
  const auto verified = verify_backup(folder / "data/muster.db");
  ASSERT_FALSE(verified);
  EXPECT_THAT(verified.error().message, HasSubstr("no backup: make one with `muster backup NAME`"));
}

TEST_F(RestoreTest, one_changed_byte_in_a_value_is_found) {
  const std::string content = text_of(backup);
  const std::size_t at = content.find("the text that a bit may change in");
  ASSERT_NE(at, std::string::npos);
  overwrite(at, "T");
  const auto verified = verify_backup(backup);
  ASSERT_FALSE(verified);
  EXPECT_EQ(verified.error().error_class, ErrorClass::internal);
  EXPECT_THAT(verified.error().message, HasSubstr("its content is not what was written"));
  expect_refused(restore(folder / "other"), "is damaged");
  EXPECT_TRUE(fs::is_empty(folder / "other"));
}

TEST_F(RestoreTest, a_backup_that_was_cut_off_or_written_over_is_refused) {
  const std::string content = text_of(backup);
  fs::resize_file(backup, content.size() - 100);
  EXPECT_FALSE(verify_backup(backup));
  fs::resize_file(backup, content.size() / 4096 / 2 * 4096);
  EXPECT_FALSE(verify_backup(backup));
  std::ofstream(backup, std::ios::binary) << content;
  ASSERT_TRUE(verify_backup(backup));
  overwrite(4096, std::string(4096, '\xee'));
  EXPECT_FALSE(verify_backup(backup));
}

TEST_F(RestoreTest, a_backup_of_a_newer_muster_is_refused) {
  const auto verified = verify_backup(backup, migrations().first(migrations().size() - 1));
  ASSERT_FALSE(verified);
  EXPECT_THAT(verified.error().message, HasSubstr("which knows versions up to"));
}

TEST_F(RestoreTest, verifying_says_what_is_in_it_and_leaves_nothing_beside_it) {
  const std::string before = text_of(backup);
  const auto verified = verify_backup(backup);
  ASSERT_TRUE(verified) << verified.error().message;
  EXPECT_EQ(verified->host_id, "host-1");
  EXPECT_EQ(verified->workers, 1);
  EXPECT_EQ(verified->version, migrations().size());
  EXPECT_EQ(verified->last.number, 1);
  EXPECT_TRUE(verified->sealed);
  EXPECT_EQ(text_of(backup), before);
  EXPECT_FALSE(fs::exists(backup.string() + "-wal") || fs::exists(backup.string() + "-shm"));
}

TEST_F(RestoreTest, a_folder_that_a_host_uses_is_refused_whatever_force_says) {
  const int lock = ::open((folder / "data/lock").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  ASSERT_EQ(::write(lock, "4711\n", 5), 5);
  expect_refused(restore(folder / "data", true), "a host runs in");
  expect_refused(restore(folder / "data", true), "(pid 4711): stop it first");
  ::close(lock);
  const auto running = open_store(folder / "data/muster.db", {});
  expect_refused(restore(folder / "data", true), "is in use already");
}

TEST_F(RestoreTest, a_database_is_replaced_only_if_that_is_wanted_and_then_kept) {
  expect_refused(restore(folder / "data"), "add --force");
  EXPECT_EQ(workers_in(folder / "data"), (std::vector<std::int64_t>{1, 2}));
  const auto restored = restore(folder / "data", true);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(workers_in(folder / "data"), std::vector<std::int64_t>{1});
  ASSERT_THAT(restored->kept.string(), HasSubstr("muster.db.replaced-"));
  fs::create_directory(folder / "old");
  fs::rename(restored->kept, folder / "old/muster.db");
  EXPECT_EQ(workers_in(folder / "old"), (std::vector<std::int64_t>{1, 2}));
}

TEST_F(RestoreTest, a_folder_of_another_host_is_refused_unless_forced) {
  std::ofstream(folder / "other/host-id") << "host-2\n";
  expect_refused(restore(folder / "other"), "the backup is of host host-1");
  const auto restored = restore(folder / "other", true);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(restored->old_host_id, "host-2");
  EXPECT_EQ(text_of(folder / "other/host-id"), "host-1\n");
}

TEST_F(RestoreTest, without_room_for_the_copy_the_folder_stays_as_it_was) {
  std::ofstream(folder / "data/host-id") << "host-2\n";
  const std::string mark = text_of(folder / "data/muster.db.mark");
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
  const rlimit small{8192, usual.rlim_max};
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto restored = restore(folder / "data", true);
  ::setrlimit(RLIMIT_FSIZE, &usual);
  std::signal(SIGXFSZ, before);
  ASSERT_FALSE(restored);
  EXPECT_EQ(text_of(folder / "data/host-id"), "host-2\n");
  EXPECT_EQ(text_of(folder / "data/muster.db.mark"), mark);
  for (const auto& entry : fs::directory_iterator(folder / "data"))
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("restoring")));
  EXPECT_EQ(workers_in(folder / "data"), (std::vector<std::int64_t>{1, 2}));
}

TEST_F(RestoreTest, a_folder_that_cannot_be_marked_keeps_the_id_of_its_host) {
  fs::create_directory(folder / "other/muster.db.mark");
  EXPECT_FALSE(restore(folder / "other", true));
  EXPECT_FALSE(fs::exists(folder / "other/host-id"));
  std::ofstream(folder / "other/host-id") << "host-2\n";
  EXPECT_FALSE(restore(folder / "other", true));
  EXPECT_EQ(text_of(folder / "other/host-id"), "host-2\n");
  EXPECT_FALSE(fs::exists(folder / "other/muster.db"));
  EXPECT_FALSE(fs::exists(folder / "other/muster.db.restoring"));
}

TEST_F(RestoreTest, a_host_id_that_is_none_is_refused_and_not_repeated) {
  // A copy without a digest, of a host that is stopped.
  const auto backup_with = [&](const std::string& host_id) {
    EXPECT_TRUE(open_store(folder / "data/muster.db", {})
                    ->commit({put(fleet::HostRow{"hostId", host_id})}));
    fs::copy_file(folder / "data/muster.db", backup, fs::copy_options::overwrite_existing);
    return verify_backup(backup);
  };
  const auto good = backup_with("Host_2");
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(good->host_id, "Host_2");
  for (const std::string& bad :
       {std::string("a\x1b[2Jb"), std::string("a\nb"), std::string("../x"), std::string(65, 'a')}) {
    const auto verified = backup_with(bad);
    ASSERT_FALSE(verified);
    EXPECT_THAT(verified.error().message, HasSubstr("id of its host"));
    EXPECT_THAT(verified.error().message, Not(HasSubstr(bad)));
    expect_refused(restore(folder / "other"), "is damaged");
    EXPECT_TRUE(fs::is_empty(folder / "other"));
  }
}

TEST_F(RestoreTest, an_empty_folder_gets_the_database_and_knows_that_changes_may_be_missing) {
  const auto restored = restore(folder / "new");
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(restored->kept, fs::path());
  EXPECT_TRUE(restored->secrets_key_missing);
  EXPECT_EQ(text_of(folder / "new/host-id"), "host-1\n");
  struct stat about {};
  ASSERT_EQ(::stat((folder / "new/muster.db").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600U);
  const auto store = open_store(folder / "new/muster.db", {});
  ASSERT_TRUE(store->missing());
  EXPECT_EQ(store->missing()->have.number, 1);
  EXPECT_TRUE(store->commit({put(worker(7))}));
  ASSERT_TRUE(store->backup((folder / "again.db").string())) << "its old seal is gone";
  EXPECT_TRUE(verify_backup(folder / "again.db"));
}

TEST_F(RestoreTest, a_backup_of_the_last_change_leaves_nothing_missing) {
  backup = folder / "last.db";
  ASSERT_TRUE(open_store(folder / "data/muster.db", {})->backup(backup.string()));
  ASSERT_TRUE(restore(folder / "data", true));
  EXPECT_FALSE(open_store(folder / "data/muster.db", {})->missing());
}

}  // namespace
}  // namespace muster::store::testing
