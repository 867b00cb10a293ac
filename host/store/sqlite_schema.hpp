// The version of a database, and the way from one to the next.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "host/store/migrations.hpp"
#include "host/store/sqlite_connection.hpp"

namespace muster::store::sqlite {

// In the header of every database of muster ("must"), so that no other program's file is taken for
// one.
inline constexpr std::int64_t application_id = 0x6d757374;

// Fails as `config` if a newer muster wrote the database: an older one would lose what it does not
// know.
Result<std::size_t> version_of(Connection& connection, const std::filesystem::path& file,
                               std::span<const Migration> steps);

// Each missing step in a transaction of its own; one that fails leaves the version before it.
Result<void> migrate(Connection& connection, std::span<const Migration> steps);

// The names of all tables.
Result<std::vector<std::string>> tables_of(Connection& connection);

// Whether every table of the steps is there with its columns. Fails as `internal`.
Result<void> check_tables(Connection& connection, const std::filesystem::path& file,
                          std::span<const Migration> steps);

}  // namespace muster::store::sqlite
