#include "host/store/sqlite_copy.hpp"

#include <cerrno>
#include <fcntl.h>
#include <stdlib.h>

#include "host/store/sqlite_files.hpp"

namespace muster::store::sqlite {
namespace fs = std::filesystem;
namespace {

// About 4 MB: some milliseconds.
constexpr int pages_at_once = 1000;

Result<fs::path> temporary_beside(const fs::path& target) {
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  std::string name = (folder / ("." + target.filename().string() + ".XXXXXX")).string();
  const FileDescriptor made(::mkostemp(name.data(), O_CLOEXEC));  // mode 0600
  if (!made) return file_error("create a temporary file in", folder, errno);
  return fs::path(name);
}

Result<void> copy_pages(Connection& source, Connection& target,
                        const std::function<bool()>& wanted) {
  sqlite3_backup* copying = sqlite3_backup_init(target.handle(), "main", source.handle(), "main");
  if (!copying) return target.error(sqlite3_errcode(target.handle()));
  int code = SQLITE_OK;
  bool go_on = true;
  while (code == SQLITE_OK && (go_on = wanted()))
    code = sqlite3_backup_step(copying, pages_at_once);
  const int finished = sqlite3_backup_finish(copying);
  if (!go_on)
    return Error::transient(
        "the copy was given up, because the database is being replaced: try again");
  if (code == SQLITE_DONE && finished == SQLITE_OK) return {};
  const int failed = code != SQLITE_DONE ? code : finished;
  // The target is only written: what could not be read is of the source.
  const bool of_source = failed == SQLITE_IOERR_DATA || failed == SQLITE_IOERR_READ ||
                         (failed & 0xff) == SQLITE_CORRUPT || (failed & 0xff) == SQLITE_NOTADB;
  return (of_source ? source : target).error(failed);
}

// In one read transaction, so that what is committed meanwhile does not begin the copy anew.
Result<void> copy_snapshot(Connection& source, Connection& target,
                           const std::function<bool()>& wanted) {
  if (auto begun = source.run("BEGIN; SELECT count(*) FROM sqlite_schema"); !begun) return begun;
  auto copied = copy_pages(source, target, wanted);
  (void)source.run("ROLLBACK");
  return copied;
}

Result<void> fill(Connection& source, const fs::path& file, const std::function<bool()>& wanted,
                  const std::function<Result<void>(Connection&)>& finish) {
  auto target = Connection::open(file, Access::write);
  if (!target) return target.error();
  // The file is thrown away if anything fails, and synced at the end.
  if (auto fast = (*target)->run("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF"); !fast)
    return fast;
  if (auto copied = copy_snapshot(source, **target, wanted); !copied) return copied;
  if (finish) {
    // The pages say that there is a log; what is written now would be in that log alone.
    if (auto alone = (*target)->run("PRAGMA journal_mode = DELETE"); !alone) return alone;
    if (auto finished = finish(**target); !finished) return finished;
  }
  return check_pages(**target, file);
}

Result<void> check_with(Connection& connection, const fs::path& file, const std::string& pragma) {
  const auto found = connection.text("PRAGMA " + pragma);
  if (!found) return found.error();
  if (*found == "ok") return {};
  return Error::internal("the database " + file.string() + " is damaged (" + *found + ")");
}

}  // namespace

Result<void> check_pages(Connection& connection, const fs::path& file, const std::string& table) {
  return check_with(connection, file,
                    "quick_check(" + (table.empty() ? "1" : '"' + table + '"') + ")");
}

Result<void> check_integrity(Connection& connection, const fs::path& file) {
  return check_with(connection, file, "integrity_check(1)");
}

Result<void> check_pages_for(Connection& connection, const fs::path& file, const std::string& table,
                             const Clock& clock, std::chrono::milliseconds at_most,
                             const std::function<bool()>& wanted) {
  struct Limit {
    const Clock& clock;
    const std::function<bool()>& wanted;
    SteadyTime end;
  } limit{clock, wanted, clock.steady() + at_most};
  sqlite3_progress_handler(
      connection.handle(), 10'000,
      [](void* context) {
        const auto& known = *static_cast<const Limit*>(context);
        return known.clock.steady() >= known.end || !known.wanted() ? 1 : 0;
      },
      &limit);
  auto checked = check_pages(connection, file, table);
  sqlite3_progress_handler(connection.handle(), 0, nullptr, nullptr);
  const bool given_up =
      !checked && checked.error().code == "sqlite " + std::to_string(SQLITE_INTERRUPT);
  return given_up ? Result<void>() : checked;
}

Result<void> copy_database(Connection& source, const fs::path& target, bool replace,
                           const std::function<bool()>& wanted,
                           const std::function<Result<void>(Connection&)>& finish) {
  if (!target.has_filename()) return Error::invalid("a backup needs the name of a file");
  std::error_code ignored;
  if (!replace && fs::exists(target, ignored))  // before the work; move_into_place() is sure
    return Error::invalid(target.string() + " exists already: choose another name, or remove it");
  const auto temporary = temporary_beside(target);
  if (!temporary) return temporary.error();
  auto copied = fill(source, *temporary, wanted, finish);
  if (copied) copied = sync(*temporary);
  if (copied) copied = move_into_place(*temporary, target, replace);
  remove_database(*temporary);
  if (!copied && copied.error().error_class == ErrorClass::capacity)
    return Error::capacity("there is no room for the copy " + target.string() +
                           ": make room on that disk, or choose another");
  return copied;
}

}  // namespace muster::store::sqlite
