// kill -9 in the middle of commits: what was acknowledged is there, nothing is there in part.
#include <random>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/store/committer.hpp"
#include "lib/base/fake_clock.hpp"
#include "lib/base/file_descriptor.hpp"
#include "tests/unit/host/store/test_tables.hpp"

namespace muster::store::testing {
namespace {

namespace fs = std::filesystem;
using muster::testing::TemporaryFolder;

// Batch i in two tables, with rows enough for several pages.
Batch batch_of(std::int64_t i) {
  Batch batch;
  for (std::int64_t row = 0; row < 8; ++row)
    batch.emplace_back(thing(i * 8 + row, std::string(700, 'x'), 1.0, i));
  batch.emplace_back(part("batch", i));
  return batch;
}

void acknowledge(int pipe, std::int64_t i) {
  if (::write(pipe, &i, sizeof i) != sizeof i) ::_exit(3);
}

[[noreturn]] void commit_forever(const fs::path& file, std::int64_t first, int pipe) {
  SqliteSettings settings = test_settings();
  settings.checkpoint_pages = 30;  // so that it dies in checkpoints, too
  const auto store = open_store(file, settings);
  for (std::int64_t i = first;; ++i) {
    if (!store->commit(batch_of(i))) ::_exit(4);
    acknowledge(pipe, i);
  }
}

[[noreturn]] void submit_forever(const fs::path& file, std::int64_t first, int pipe) {
  const auto store = open_store(file);
  const SystemClock clock;
  Committer committer(*store, clock, Log());
  for (std::int64_t i = first;; ++i) {
    while (committer.waiting() > 20) std::this_thread::yield();
    committer.submit(batch_of(i), [pipe, i] { acknowledge(pipe, i); });
  }
}

// Returns the last batch that was acknowledged.
std::int64_t run_and_kill(void (*work)(const fs::path&, std::int64_t, int), const fs::path& file,
                          std::int64_t first, std::int64_t count) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  const FileDescriptor reading(ends[0]);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    work(file, first, ends[1]);
  }
  ::close(ends[1]);
  std::int64_t last = first - 1;
  std::int64_t got = 0;
  const auto read_one = [&] { return ::read(reading.get(), &got, sizeof got) == sizeof got; };
  while (last < first - 1 + count && read_one()) {
    EXPECT_EQ(got, last + 1);
    last = got;
  }
  ::kill(child, SIGKILL);
  while (read_one()) last = got;  // acknowledged before it died
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself with " << WEXITSTATUS(status);
  return last;
}

// Returns the last batch that is there.
std::int64_t check(const fs::path& file, std::int64_t acknowledged, std::int64_t in_flight) {
  const auto store = open_store(file);
  const auto batches = numbers_of(*store, {&parts});
  const Rows rows = rows_of(*store, {&things});
  EXPECT_EQ(rows.size(), batches.size() * 8) << "a torn batch";
  for (std::size_t i = 0; i < batches.size(); ++i)
    EXPECT_EQ(batches[i], static_cast<std::int64_t>(i)) << "a gap";
  for (std::size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(rows[i][3], Value(static_cast<std::int64_t>(i / 8)));
  const auto last = static_cast<std::int64_t>(batches.size()) - 1;
  EXPECT_GE(last, acknowledged) << "an acknowledged batch is lost";
  EXPECT_LE(last, acknowledged + in_flight);
  return last;
}

TEST(CrashTest, what_was_committed_survives_kill_9) {
  const TemporaryFolder folder;
  std::mt19937 random(1);
  std::int64_t last = -1;
  for (int round = 0; round < 15; ++round) {
    const std::int64_t count = std::uniform_int_distribution<std::int64_t>(0, 30)(random);
    const std::int64_t acknowledged =
        run_and_kill(commit_forever, folder / "a.db", last + 1, count);
    last = check(folder / "a.db", acknowledged, 1);
  }
}

TEST(CrashTest, what_the_committer_called_durable_survives_kill_9) {
  const TemporaryFolder folder;
  std::mt19937 random(2);
  std::int64_t last = -1;
  for (int round = 0; round < 15; ++round) {
    const std::int64_t count = std::uniform_int_distribution<std::int64_t>(1, 60)(random);
    const std::int64_t acknowledged =
        run_and_kill(submit_forever, folder / "a.db", last + 1, count);
    last = check(folder / "a.db", acknowledged, 100);
  }
}

}  // namespace
}  // namespace muster::store::testing
