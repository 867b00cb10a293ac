#include "host/store/sqlite_rebuild.hpp"

#include <cerrno>
#include <fcntl.h>

#include "host/store/sqlite_commits.hpp"
#include "host/store/sqlite_files.hpp"
#include "host/store/sqlite_rows.hpp"
#include "host/store/sqlite_schema.hpp"

namespace muster::store::sqlite {
namespace fs = std::filesystem;
namespace {

constexpr const char* unfinished = ".unfinished";

// From both ends up to the damage: what lies in between is lost, it was the journal only.
Result<void> salvage_table(Connection& damaged, const Table& table, Connection& target) {
  Result<void> written;
  for (const bool backwards : {false, true}) {
    const auto read = scan(damaged, {.table = &table, .backwards = backwards},
                           [&](std::span<const Value> values) {
                             written = apply(target, Put{&table, {values.begin(), values.end()}});
                             return written.has_value();
                           });
    if (!written || read) break;  // read to the end: nothing is missing
  }
  return written;
}

Result<void> fill(Connection& target, const NewContent& content) {
  // The file is thrown away if anything fails, and synced at the end.
  if (auto fast = target.run("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF"); !fast)
    return fast;
  if (auto made = migrate(target, content.steps); !made) return made;
  if (auto made = make_commits_table(target); !made) return made;
  if (auto begun = target.run("BEGIN"); !begun) return begun;
  for (const Table* table : content.damaged ? content.salvage : std::span<const Table* const>())
    if (auto saved = salvage_table(*content.damaged, *table, target); !saved) return saved;
  for (const Change& change : content.everything)
    if (auto applied = apply(target, change); !applied) return applied;
  if (auto counted = apply(target, row_of(content.last)); !counted) return counted;
  return target.run("COMMIT; PRAGMA journal_mode = WAL");
}

Result<void> write(const fs::path& file, const NewContent& content) {
  {
    const FileDescriptor made(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!made) return file_error("create", file, errno);
  }
  auto target = Connection::open(file, Access::write);
  if (!target) return target.error();
  return fill(**target, content);
}

}  // namespace

Result<void> write_anew(const fs::path& file, const NewContent& content) {
  const fs::path target = beside(file, unfinished);
  remove_database(target);
  auto written = write(target, content);
  if (written) written = sync(target);
  if (!written) remove_database(target);
  return written;
}

Result<void> declare_rebuilt(const fs::path& file) {
  return move_into_place(beside(file, unfinished), beside(file, rebuilt), true);
}

}  // namespace muster::store::sqlite
