#include "host/store/sqlite_store.hpp"

#include <cerrno>
#include <mutex>
#include <unistd.h>

#include "host/store/backup_file.hpp"
#include "host/store/backup_seal.hpp"
#include "host/store/checks.hpp"
#include "host/store/sqlite_checked_files.hpp"
#include "host/store/sqlite_commits.hpp"
#include "host/store/sqlite_copy.hpp"
#include "host/store/sqlite_files.hpp"
#include "host/store/sqlite_readers.hpp"
#include "host/store/sqlite_rebuild.hpp"
#include "host/store/sqlite_rows.hpp"
#include "host/store/sqlite_schema.hpp"

namespace muster::store {
namespace fs = std::filesystem;
using sqlite::Access;
using sqlite::beside;
using sqlite::Connection;

struct SqliteStore::State {
  State(fs::path path, SqliteSettings chosen, FileDescriptor held)
      : file(std::move(path)),
        settings(std::move(chosen)),
        lock(std::move(held)),
        mark(beside(file, ".mark")),
        readers(std::make_unique<sqlite::Readers>(file, checked.name())) {}

  Result<Connection*> writing();
  Result<void> compare_with_mark();
  // The same error, or that of a store that is being replaced.
  Error damage_found(Error error);
  // While the lease is held: so it is told before a rebuild that is under way has ended.
  Result<void> told(Result<void> outcome) {
    const bool damaged = !outcome && outcome.error().error_class == ErrorClass::internal;
    return damaged ? damage_found(outcome.error()) : std::move(outcome);
  }

  // In the order in which they may end: readers, writer (which then carries the log over), lock.
  fs::path file;
  SqliteSettings settings;
  FileDescriptor lock;
  sqlite::CheckedFiles checked;
  CommitMark mark;
  Commit last;
  bool has_commits_table = false;
  std::optional<MissingCommits> missing;
  std::mutex listener_mutex;
  std::function<void(const Error&)> listener;
  std::optional<std::vector<std::string>> unchecked_tables;  // empty: not listed yet
  std::unique_ptr<Connection> writer;
  std::unique_ptr<sqlite::Readers> readers;
};

namespace {

bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

bool has_content(const fs::path& file) {
  std::error_code failed;
  const auto size = fs::file_size(file, failed);
  return !failed && size > 0;
}

Result<std::unique_ptr<Connection>> open_writer(const fs::path& file, const char* vfs,
                                                const SqliteSettings& settings) {
  auto opened = Connection::open(file, Access::write, vfs);
  if (!opened) return opened;
  Connection& connection = **opened;
  sqlite3_db_config(connection.handle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  const auto mode = connection.text("PRAGMA journal_mode = WAL");
  if (!mode) return mode.error();
  if (*mode != "wal")
    return Error::config(
        "the database " + file.string() +
        " needs a file system with shared memory, which network file systems lack: "
        "give the host a dataDirectory on a local disk");
  std::string pragmas =
      std::string("PRAGMA synchronous = ") + (settings.synchronous_full ? "FULL" : "NORMAL") +
      "; PRAGMA wal_autocheckpoint = " + std::to_string(settings.checkpoint_pages) +
      "; PRAGMA journal_size_limit = " + std::to_string(settings.log_limit_bytes) +
      "; PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY";
  if (settings.max_pages)
    pragmas += "; PRAGMA max_page_count = " + std::to_string(*settings.max_pages);
  if (auto set = connection.run(pragmas); !set) return set.error();
  return opened;
}

// quick_check of a million workers takes as long as loading them, so it runs only when the log
// shows that the last host did not end well, and no longer than the settings allow. Damage that it
// does not reach is found when its page is read: loading reads nearly all of them.
Result<void> check_for_damage(Connection& connection, const fs::path& file,
                              const SqliteSettings& settings) {
  return sqlite::check_pages_for(connection, file, {}, *settings.clock, settings.check_for,
                                 [] { return true; });
}

Result<void> update_tables(Connection& connection, const fs::path& file,
                           const SqliteSettings& settings) {
  const auto version = sqlite::version_of(connection, file, settings.migrations);
  if (!version) return version.error();
  if (*version == settings.migrations.size()) return {};
  const fs::path copy =
      beside(file, (".before-" + std::to_string(settings.migrations.size())).c_str());
  if (auto kept = sqlite::copy_database(connection, copy, true, [] { return true; }); !kept)
    return kept;
  settings.log.info("updating the tables of the database",
                    {{"file", file.string()}, {"copy", copy.string()}});
  return sqlite::migrate(connection, settings.migrations);
}

// What is true of a file that exists.
Result<std::unique_ptr<Connection>> open_existing(const fs::path& file, const char* vfs,
                                                  const SqliteSettings& settings) {
  const bool ended_well = !has_content(beside(file, "-wal"));
  if (auto ours = sqlite::check_header(file, sqlite::application_id); !ours) return ours.error();
  auto writer = open_writer(file, vfs, settings);
  if (!writer) return writer;
  if (auto updated = update_tables(**writer, file, settings); !updated) return updated.error();
  if (auto complete = sqlite::check_tables(**writer, file, settings.migrations); !complete)
    return complete.error();
  if (!ended_well)
    if (auto sound = check_for_damage(**writer, file, settings); !sound) return sound.error();
  return writer;
}

Result<void> make_if_missing(const fs::path& file, const SqliteSettings& settings) {
  if (is_there(file)) return {};
  if (has_content(beside(file, "-wal")))
    return Error::config(
        "the database " + file.string() + " is missing, but its log " + file.string() +
        "-wal is there: put the file back, or remove the log to begin with nothing");
  sqlite::remove_database(file);  // an empty log, if any
  if (auto written = sqlite::write_anew(file, {settings.migrations, {}}); !written) return written;
  if (auto declared = sqlite::declare_rebuilt(file); !declared) return declared;
  if (auto placed = sqlite::put_rebuilt_in_place(file, *settings.clock); !placed)
    return placed.error();
  return {};
}

// What to do about damage depends on who finds it: here nothing is in memory yet.
Error with_advice(Error error, const fs::path& file) {
  if (error.error_class == ErrorClass::internal)
    error.message += ": put a backup in its place (and remove " + file.string() + "-wal and " +
                     file.string() +
                     "-shm), or move these files away to begin with nothing and let the providers' "
                     "lists say what runs";
  return error;
}

// Once more as a restore will read it: from the disk, by its name.
Result<void> verify_written(const std::string& file, std::span<const Migration> steps) {
  const auto verified = verify_backup(file, steps);
  if (verified && verified->sealed) return {};
  ::unlink(file.c_str());
  const std::string why = verified ? "it has no digest" : verified.error().message;
  return Error::internal("the backup " + file +
                         " was removed, because it is not what was written (" + why +
                         "): look at its disk, and try again");
}

}  // namespace

SqliteStore::SqliteStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
SqliteStore::~SqliteStore() = default;

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const fs::path& path,
                                                       SqliteSettings settings) {
  std::error_code ignored;
  fs::path file = fs::weakly_canonical(path, ignored);  // renames must not replace a link
  if (file.empty()) file = path;
  auto held = sqlite::lock(file);
  if (!held) return held.error();
  auto state = std::make_unique<State>(file, std::move(settings), std::move(*held));
  if (auto placed = sqlite::put_rebuilt_in_place(file, *state->settings.clock); !placed)
    return placed.error();
  if (auto made = make_if_missing(file, state->settings); !made) return made.error();
  auto writer = open_existing(file, state->checked.name(), state->settings);
  if (!writer) return with_advice(writer.error(), file);
  state->writer = std::move(*writer);
  if (auto compared = state->compare_with_mark(); !compared)
    return with_advice(compared.error(), file);
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(state)));
}

// The connection, or why there is none. It ends only in a rebuild, and when it could not undo a
// transaction.
Result<Connection*> SqliteStore::State::writing() {
  if (!writer) {
    if (auto placed = sqlite::put_rebuilt_in_place(file, *settings.clock); !placed)
      return placed.error();
    if (!is_there(file)) return Error::internal("the database " + file.string() + " is gone");
    auto opened = open_writer(file, checked.name(), settings);
    if (!opened) return opened.error();
    writer = std::move(*opened);
    has_commits_table = false;
    readers->open();
  }
  // SQLite would go on writing into a file that has no name any more.
  int moved = 0;
  sqlite3_file_control(writer->handle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (moved != 0)
    return Error::internal("the database " + file.string() +
                           " was moved, removed or replaced while musterd uses it");
  return writer.get();
}

Result<void> SqliteStore::commit(const Batch& batch) {
  if (auto fits = check(batch); !fits) return fits;
  const auto writer = state_->writing();
  if (!writer) return writer.error();
  if (batch.empty()) return {};
  State& state = *state_;
  if (!state.has_commits_table) {
    if (auto made = sqlite::make_commits_table(**writer); !made) return made;
    state.has_commits_table = true;
  }
  const Commit next{state.last.number + 1, state.settings.clock->now()};
  auto committed = sqlite::apply_together(**writer, batch, sqlite::row_of(next));
  if ((*writer)->in_transaction()) state.writer.reset();
  if (committed) {
    state.last = next;
    state.mark.write(next);
  }
  return committed;
}

Result<void> SqliteStore::State::compare_with_mark() {
  const auto have = sqlite::last_commit(*writer);
  if (!have) return have.error();
  last = *have;
  const auto expected = mark.read();
  if (!expected || expected->number <= have->number) return {};
  missing = {*have, *expected};
  last = *expected;  // numbers are not given twice
  settings.log.error(to_string(*missing, file),
                     {{"first", have->number + 1}, {"last", expected->number}});
  return {};
}

const std::optional<MissingCommits>& SqliteStore::missing() const {
  return state_->missing;
}

std::string SqliteStore::notice() const {
  return state_->missing ? to_string(*state_->missing, state_->file) : std::string();
}

void SqliteStore::on_damage(std::function<void(const Error&)> listener) {
  const std::lock_guard guard(state_->listener_mutex);
  state_->listener = std::move(listener);
}

Error SqliteStore::State::damage_found(Error error) {
  const std::lock_guard guard(listener_mutex);
  if (!listener) return error;
  listener(error);
  return Error::transient(error.message + "; a new one is written from memory: try again");
}

Result<void> SqliteStore::scan(const Scan& scan, const RowSink& sink) const {
  if (auto fits = check(scan); !fits) return fits;
  sqlite::Readers& readers = *state_->readers;
  const auto lease = readers.take();
  if (!lease) return lease.error();
  bool given_up = false;
  const auto scanned = sqlite::scan(**lease, scan, [&](std::span<const Value> values) {
    given_up = readers.closed();
    return !given_up && sink(values);
  });
  if (given_up)
    return Error::transient("the database " + state_->file.string() +
                            " is being replaced: try again");
  return state_->told(scanned);
}

Result<void> SqliteStore::backup(const std::string& file) const {
  sqlite::Readers& readers = *state_->readers;
  const auto lease = readers.take();
  if (!lease) return lease.error();
  const auto wanted = [&] { return !readers.closed(); };
  auto copied = sqlite::copy_database(**lease, file, false, wanted, sqlite::write_seal);
  if (copied) copied = verify_written(file, state_->settings.migrations);
  if (copied || copied.error().error_class != ErrorClass::internal) return copied;
  // The pages of a bad copy may be those of its own disk.
  if (auto sound = state_->told(sqlite::check_integrity(**lease, state_->file)); !sound)
    return sound;
  return copied;
}

Result<void> SqliteStore::look_for_damage() const {
  constexpr std::int64_t pages_at_once = 1024;
  State& state = *state_;
  const auto lease = state.readers->take();
  if (!lease) return lease.error();
  Connection& reader = **lease;
  if (auto same = state.checked.compare_next(reader, pages_at_once); !same)
    return state.told(std::move(same));
  if (!state.unchecked_tables) {
    auto tables = sqlite::tables_of(reader);
    if (!tables) return state.told(tables.error());
    state.unchecked_tables = std::move(*tables);
  }
  if (state.unchecked_tables->empty()) return {};
  const std::string table = state.unchecked_tables->back();
  state.unchecked_tables->pop_back();
  return state.told(sqlite::check_pages_for(reader, state.file, table, *state.settings.clock,
                                            state.settings.check_for,
                                            [&] { return !state.readers->closed(); }));
}

Result<void> SqliteStore::rebuild(const Batch& everything, std::span<const Table* const> salvage) {
  if (auto fits = check(everything); !fits) return fits;
  State& state = *state_;
  if (auto written = sqlite::write_anew(state.file, {state.settings.migrations, everything, salvage,
                                                     state.writer.get(), state.last});
      !written)
    return written;
  constexpr std::chrono::seconds patience(30);
  if (auto closed = state.readers->close(patience); !closed) return closed;
  if (state.writer)  // the log stays as it is, for a later examination
    sqlite3_db_config(state.writer->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  state.writer.reset();
  state.checked.replaced();
  if (auto declared = sqlite::declare_rebuilt(state.file); !declared) return declared;
  const auto writer = state.writing();  // puts the new one in place
  if (!writer) return writer.error();
  state.settings.log.warning(
      "a new database was written from memory; the old one is kept beside it",
      {{"file", state.file.string()}});
  return {};
}

}  // namespace muster::store
