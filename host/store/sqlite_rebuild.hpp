// Writes a database anew, beside the one that it is to replace.
#pragma once

#include <span>

#include "host/store/commit_mark.hpp"
#include "host/store/migrations.hpp"
#include "host/store/sqlite_connection.hpp"

namespace muster::store::sqlite {

struct NewContent {
  std::span<const Migration> steps;
  const Batch& everything;
  std::span<const Table* const> salvage = {};  // their rows that can still be read from `damaged`
  Connection* damaged = nullptr;
  Commit last = {};  // the commit that this stands for
};

// FILE.unfinished with all of this, whole and synced. After an error there is none.
Result<void> write_anew(const std::filesystem::path& file, const NewContent& content);

// From here on FILE.unfinished is what counts: put_rebuilt_in_place() does the rest, now or after a
// crash. Nothing may be written to FILE any more.
Result<void> declare_rebuilt(const std::filesystem::path& file);

}  // namespace muster::store::sqlite
