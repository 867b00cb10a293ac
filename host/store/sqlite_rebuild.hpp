// Writes a database anew, beside the one that it is to replace.
#pragma once

#include <span>

#include "host/store/migrations.hpp"
#include "host/store/sqlite_connection.hpp"

namespace muster::store::sqlite {

// FILE.unfinished with `everything`, and with the rows of the tables `salvage` that can still be
// read from `damaged` (may be null), whole and synced. After an error there is none.
Result<void> write_anew(const std::filesystem::path& file, std::span<const Migration> steps,
                        const Batch& everything, std::span<const Table* const> salvage,
                        Connection* damaged);

// From here on FILE.unfinished is what counts: put_rebuilt_in_place() does the rest, now or after a
// crash. Nothing may be written to FILE any more.
Result<void> declare_rebuilt(const std::filesystem::path& file);

}  // namespace muster::store::sqlite
