// Tables that only tests have, with every kind of column and of key, and stores that know them.
#pragma once

#include <array>

#include <gtest/gtest.h>

#include "host/store/memory_store.hpp"
#include "host/store/sqlite_store.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::store::testing {

inline constexpr std::array thing_columns{
    Column{"number", ColumnType::integer}, Column{"name", ColumnType::text},
    Column{"price", ColumnType::real}, Column{"at", ColumnType::integer}};
inline constexpr Table things{"things", thing_columns, 1};

inline constexpr std::array part_columns{Column{"owner", ColumnType::text},
                                         Column{"number", ColumnType::integer},
                                         Column{"note", ColumnType::text}};
inline constexpr Table parts{"parts", part_columns, 2};

inline constexpr std::array steps{
    Migration{"CREATE TABLE things (number INTEGER PRIMARY KEY, name TEXT, price REAL, at INTEGER) "
              "STRICT"},
    Migration{"CREATE TABLE parts (owner TEXT NOT NULL, number INTEGER NOT NULL, note TEXT, "
              "PRIMARY KEY (owner, number)) STRICT, WITHOUT ROWID"}};

inline SqliteSettings test_settings() {
  SqliteSettings settings;
  settings.migrations = steps;
  return settings;
}

inline std::unique_ptr<SqliteStore> open_store(const std::filesystem::path& file,
                                               SqliteSettings settings = test_settings()) {
  auto opened = SqliteStore::open(file, std::move(settings));
  if (!opened) throw std::runtime_error(opened.error().message);
  return std::move(*opened);
}

inline Put thing(std::int64_t number, Value name = std::string("n"), Value price = 1.5,
                 Value at = std::int64_t{0}) {
  return {&things, {number, std::move(name), std::move(price), std::move(at)}};
}
inline Put part(std::string owner, std::int64_t number, std::string note = "") {
  return {&parts, {std::move(owner), number, std::move(note)}};
}

using Rows = std::vector<std::vector<Value>>;

inline Rows rows_of(const Store& store, const Scan& scan) {
  Rows rows;
  const auto scanned = store.scan(scan, [&](std::span<const Value> values) {
    rows.emplace_back(values.begin(), values.end());
    return true;
  });
  EXPECT_TRUE(scanned) << scanned.error().message;
  return rows;
}

// The first column of `things`, the second of `parts`.
inline std::vector<std::int64_t> numbers_of(const Store& store, const Scan& scan) {
  std::vector<std::int64_t> numbers;
  for (const auto& row : rows_of(store, scan))
    numbers.push_back(std::get<std::int64_t>(row[scan.table == &parts ? 1 : 0]));
  return numbers;
}

}  // namespace muster::store::testing
