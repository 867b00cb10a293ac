// A backup carries the digest of its own content, so that a bit that changed in storage is found
// where SQLite's own checks cannot see it: inside a value.
#pragma once

#include "host/store/sqlite_connection.hpp"

namespace muster::store::sqlite {

enum class Seal { none, intact };

// Writes the digest of all tables into the database, in a table of its own.
Result<void> write_seal(Connection& connection);

// Fails as `internal` if the content is not what was sealed. Seal::none: it was never sealed, as
// the copies from before an update.
Result<Seal> check_seal(Connection& connection, const std::filesystem::path& file);

// A database that is written to has no seal.
Result<void> remove_seal(Connection& connection);

}  // namespace muster::store::sqlite
