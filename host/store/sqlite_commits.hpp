// The number and time of the last commit, in a table of the store's own.
#pragma once

#include "host/store/commit_mark.hpp"
#include "host/store/sqlite_connection.hpp"

namespace muster::store::sqlite {

// Does nothing if it is there.
Result<void> make_commits_table(Connection& connection);

// Of a database without the table: none yet.
Result<Commit> last_commit(Connection& connection);

Put row_of(const Commit& commit);

}  // namespace muster::store::sqlite
