// Moving house: everything of one store into another, and proof that it is there.
#pragma once

#include <string>

#include <muster/error.hpp>

#include "host/store/store.hpp"

namespace muster::postgres {

struct Copied {
  std::size_t tables = 0;
  std::int64_t rows = 0;
};

// Every row of every table of this version of muster, then both stores are read again and compared
// row by row. Fails as `config`, and writes nothing, if `to` has any row.
Result<Copied> copy_store(const store::Store& from, store::Store& to);

// The same, between "sqlite:FILE" and "postgres:ADDRESS" (also "postgresql://..."), either way. No
// host may use them: an SQLite file is locked, and the lead of a PostgreSQL database is taken until
// the end. The host id and the epoch go along.
Result<Copied> copy_store(const std::string& from, const std::string& to);

}  // namespace muster::postgres
