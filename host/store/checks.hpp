// What every store refuses before it touches anything, so that all of them refuse the same. Each
// fails as `invalid`: it is a mistake of the program, not of the disk.
#pragma once

#include "host/store/store.hpp"

namespace muster::store {

// Every value is of its column's kind, no key holds NULL, no number is NaN (no database orders it).
Result<void> check(const Change& change);
Result<void> check(const Batch& batch);

Result<void> check(const Scan& scan);

// The index of the column in its table.
std::optional<std::size_t> index_of(const Table& table, std::string_view column);

}  // namespace muster::store
