#include "host/store/backup_file.hpp"

#include "host/store/backup_seal.hpp"
#include "host/store/host_id_form.hpp"
#include "host/store/sqlite_commits.hpp"
#include "host/store/sqlite_copy.hpp"
#include "host/store/sqlite_files.hpp"
#include "host/store/sqlite_schema.hpp"

namespace muster::store {
namespace fs = std::filesystem;
using sqlite::Access;
using sqlite::Connection;
namespace {

// A host's own database has a log beside it that is part of it.
Result<void> check_no_log(const fs::path& file) {
  std::error_code failed;
  const auto size = fs::file_size(sqlite::beside(file, "-wal"), failed);
  if (failed || size == 0) return {};
  return Error::config(file.string() + " has a log beside it (" + file.string() +
                       "-wal), so it is the database of a host and no backup: make one with "
                       "`muster backup NAME`");
}

// 0 where a backup is older than the table.
Result<std::int64_t> rows_in(Connection& connection, const std::string& table) {
  auto there = connection.number(
      "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '" + table + "'");
  if (!there || *there == 0) return there;
  return connection.number("SELECT count(*) FROM " + table);
}

Result<void> count_rows(Connection& connection, BackupFacts& facts) {
  const std::pair<const char*, std::int64_t BackupFacts::*> counted[] = {
      {"pools", &BackupFacts::pools},
      {"workers", &BackupFacts::workers},
      {"clients", &BackupFacts::clients},
      {"requests", &BackupFacts::requests}};
  for (const auto& [table, into] : counted) {
    const auto rows = rows_in(connection, table);
    if (!rows) return rows.error();
    facts.*into = *rows;
  }
  return {};
}

Result<std::string> host_id_in(Connection& connection, const fs::path& file) {
  const auto table = rows_in(connection, "host");
  if (!table) return table.error();
  if (*table == 0) return std::string();
  auto id = connection.text("SELECT coalesce((SELECT value FROM host WHERE name = 'hostId'), '')");
  if (!id || id->empty() || is_host_id(*id)) return id;
  return Error::internal("the database " + file.string() +
                         " is damaged (what it has as the id of its host is none)");
}

Result<BackupFacts> examine(Connection& connection, const fs::path& file,
                            std::span<const Migration> steps) {
  BackupFacts facts;
  facts.known_version = steps.size();
  const auto version = sqlite::version_of(connection, file, steps);
  if (!version) return version.error();
  facts.version = *version;
  if (*version == 0)
    return Error::internal("the database " + file.string() + " is damaged (it has no tables)");
  if (auto sound = sqlite::check_integrity(connection, file); !sound) return sound.error();
  if (auto whole = sqlite::check_tables(connection, file, steps.first(*version)); !whole)
    return whole.error();
  const auto seal = sqlite::check_seal(connection, file);
  if (!seal) return seal.error();
  facts.sealed = *seal == sqlite::Seal::intact;
  const auto muster = connection.text(
      "SELECT coalesce((SELECT muster FROM migrations ORDER BY version DESC LIMIT 1), '')");
  if (!muster) return muster.error();
  facts.muster = *muster;
  auto host_id = host_id_in(connection, file);
  if (!host_id) return host_id.error();
  facts.host_id = std::move(*host_id);
  const auto last = sqlite::last_commit(connection);
  if (!last) return last.error();
  facts.last = *last;
  if (auto counted = count_rows(connection, facts); !counted) return counted.error();
  return facts;
}

}  // namespace

Result<BackupFacts> verify_backup(const fs::path& file, std::span<const Migration> steps) {
  if (auto ours = sqlite::check_header(file, sqlite::application_id,
                                       "name a file that `muster backup` wrote");
      !ours)
    return ours.error();
  if (auto alone = check_no_log(file); !alone) return alone.error();
  auto connection = Connection::open(file, Access::finished);
  if (!connection) return connection.error();
  auto facts = examine(**connection, file, steps);
  if (!facts) return facts;
  std::error_code ignored;
  facts->bytes = static_cast<std::int64_t>(fs::file_size(file, ignored));
  return facts;
}

}  // namespace muster::store
