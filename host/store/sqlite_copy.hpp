// A consistent copy of a database that is in use.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "host/store/sqlite_connection.hpp"
#include "lib/base/clock.hpp"

namespace muster::store::sqlite {

// Into a temporary file beside `target`, checked, synced and moved into place, with mode 0600.
// Writers go on meanwhile: the source is read as it was when this began, some pages at a time, and
// between them `wanted` is asked; if it says no, this fails as `transient`. Without `replace` an
// existing target is refused as `invalid`. `finish` may change the copy before it is checked. After
// an error nothing is left behind.
Result<void> copy_database(Connection& source, const std::filesystem::path& target, bool replace,
                           const std::function<bool()>& wanted,
                           const std::function<Result<void>(Connection&)>& finish = {});

// PRAGMA quick_check, of one table or of all. Fails as `internal` and says what it found.
Result<void> check_pages(Connection& connection, const std::filesystem::path& file,
                         const std::string& table = {});

// All that SQLite can check, indexes too: slower. Fails as `internal`.
Result<void> check_integrity(Connection& connection, const std::filesystem::path& file);

// check_pages() for so long at most: what it has not reached by then counts as sound, and so it
// does when `wanted` says no.
Result<void> check_pages_for(Connection& connection, const std::filesystem::path& file,
                             const std::string& table, const Clock& clock,
                             std::chrono::milliseconds at_most,
                             const std::function<bool()>& wanted);

}  // namespace muster::store::sqlite
