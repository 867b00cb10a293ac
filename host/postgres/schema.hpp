// The tables of a PostgreSQL database: made and updated under a lock, one host at a time.
#pragma once

#include "host/postgres/connection.hpp"
#include "host/store/migrations.hpp"

namespace muster::postgres {

// The tables that hosts agree by: who leads, which hosts there are. They never change in a way that
// an older host could not read. IDEMPOTENT.
Result<void> make_host_tables(Connection& connection);

// All other tables, each missing step in the same transaction. Fails as `config`, and changes
// nothing, if a newer muster has updated them.
Result<void> migrate(Connection& connection, std::span<const store::Migration> steps);

// How many steps the tables have seen.
Result<std::size_t> version_of(Connection& connection);

// `config`, if the tables are of a newer muster.
Result<void> check_version(Connection& connection, std::span<const store::Migration> steps);

}  // namespace muster::postgres
