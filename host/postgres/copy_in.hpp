// Many rows at once, by COPY.
#pragma once

#include <functional>

#include "host/postgres/connection.hpp"

namespace muster::postgres {

// Gives the next row, valid until the next call; nothing at the end.
using RowSource = std::function<const std::vector<store::Value>*()>;

// Rows of keys that are not there yet, all or nothing, in the transaction that is under way or in
// one of their own. Returns how many.
Result<std::int64_t> copy_in(Connection& connection, const store::Table& table,
                             const RowSource& next);

}  // namespace muster::postgres
