// Changes and scans as SQLite statements. What is given here was checked (checks.hpp).
#pragma once

#include <functional>

#include "host/store/sqlite_connection.hpp"

namespace muster::store::sqlite {

Result<void> apply(Connection& connection, const Change& change);

// And `last` after them, in a transaction of its own, which is gone if this fails.
Result<void> apply_together(Connection& connection, const Batch& batch, const Change& last);

// The values that the sink sees are in the same buffers for every row.
Result<void> scan(Connection& connection, const Scan& scan, const RowSink& sink);

}  // namespace muster::store::sqlite
