// The SQL of changes and scans, and the tables' steps in PostgreSQL's words. Pure.
#pragma once

#include <string>
#include <string_view>

#include "host/store/store.hpp"

namespace muster::postgres {

enum class StatementKind { put, erase, erase_below, scan, scan_beyond };

// What a prepared statement is made for.
struct StatementKey {
  const store::Table* table = nullptr;
  StatementKind kind = StatementKind::put;
  std::size_t count = 0;  // of key columns that are given; of erase_below: the column
  bool backwards = false;

  friend auto operator<=>(const StatementKey&, const StatementKey&) = default;
};

std::string sql_of(const StatementKey& key);

// "workerPoolId", with the quotes.
std::string quoted(std::string_view name);

// A step of host/store/migrations.cpp, which is written for SQLite, for PostgreSQL: its types, its
// quotes, and texts that are ordered by their bytes. Words in capitals are SQL, all others names.
std::string translated(std::string_view sqlite_step);

}  // namespace muster::postgres
