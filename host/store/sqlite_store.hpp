// The store in one SQLite file: write-ahead log, one connection that writes, others that read
// beside it. Beside FILE stand FILE-wal and FILE-shm (SQLite's), FILE.lock, and at times
// FILE.before-N (the copy from before an update of the tables) and FILE.damaged-<time>; and
// FILE.mark (commit_mark.hpp).
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "host/store/commit_mark.hpp"
#include "host/store/migrations.hpp"
#include "host/store/store.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/log.hpp"

namespace muster::store {

struct SqliteSettings {
  // True: a commit survives a power cut. False: only a crash of the host or of the machine's
  // software; after a power cut the last commits may be missing, but never parts of one.
  bool synchronous_full = true;
  // How large the log grows before it is carried over into the file, and what is kept of it then.
  std::int64_t checkpoint_pages = 4000;
  std::int64_t log_limit_bytes = std::int64_t{64} << 20;
  // How large the file may become; more fails as `capacity`.
  std::optional<std::int64_t> max_pages = {};
  // How long opening may look for damage after the host did not end well.
  std::chrono::milliseconds check_for = std::chrono::seconds(1);
  std::span<const Migration> migrations = store::migrations();
  std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>();
  Log log = {};
};

class SqliteStore final : public Store {
 public:
  // Makes the database if there is none. A file that exists is never begun anew: Error::config if
  // it is not a database of muster, was written by a newer muster, or is in use; Error::internal if
  // it is damaged. An older one is updated, after a copy was made.
  static Result<std::unique_ptr<SqliteStore>> open(const std::filesystem::path& file,
                                                   SqliteSettings settings = {});
  // Carries the log over into the file. No scan may be under way.
  ~SqliteStore() override;

  Result<void> commit(const Batch& batch) override;
  Result<void> scan(const Scan& scan, const RowSink& sink) const override;
  // If the store itself turns out to be damaged, its listener is told, and this fails as
  // `transient`, because it is being replaced. So does scan().
  Result<void> backup(const std::string& file) const override;

  // Told of damage that a scan, a backup or look_for_damage() meets, on their threads; may be told
  // of the same several times. Without one they fail as `internal`. Not called before it is set.
  // THREADS: any.
  void on_damage(std::function<void(const Error&)> listener);

  // Looks at the next 4 MiB of the file and of the log, and begins anew at the end: whether the
  // pages hold what was written into them. And once at each table, one at each call, for as long as
  // the settings allow: whether its pages belong together. THREADS: one at a time.
  Result<void> look_for_damage() const;

  // missing() as a sentence.
  std::string notice() const override;

  // What was acknowledged before this was opened and is not there.
  const std::optional<MissingCommits>& missing() const;

  // Writes a new database with `everything` (Puts of all that is known) and with what can still be
  // read of the tables in `salvage`, and lets it take the place of the damaged one, which is kept
  // as FILE.damaged-<time>. All or nothing, also over a crash. Scans under way end with
  // `transient`. THREADS: not while commit() runs. IDEMPOTENT.
  Result<void> rebuild(const Batch& everything, std::span<const Table* const> salvage = {});

 private:
  struct State;
  explicit SqliteStore(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace muster::store
