#include "host/store/checks.hpp"

#include <array>
#include <cmath>

namespace muster::store {
namespace {

constexpr std::array<std::string_view, 4> kinds{"NULL", "an integer", "a real", "a text"};

std::size_t kind_of(ColumnType type) {
  return static_cast<std::size_t>(type) + 1;
}

Error mistake(const Table& table, const std::string& what) {
  return Error::invalid("table " + std::string(table.name) + ": " + what +
                        "; this is a bug in muster");
}

Result<void> check_value(const Table& table, std::size_t column, const Value& value,
                         bool nullable) {
  const auto& [name, type] = table.columns[column];
  const std::size_t kind = value.index();
  if (kind == 0 && nullable) return {};
  if (kind != kind_of(type))
    return mistake(table, "column " + std::string(name) + " was given " + std::string(kinds[kind]) +
                              " and takes " + std::string(kinds[kind_of(type)]));
  if (const auto* real = std::get_if<double>(&value); real && std::isnan(*real))
    return mistake(table, "column " + std::string(name) + " was given a number that is none (NaN)");
  return {};
}

Result<void> check_prefix(const Table& table, const std::vector<Value>& key) {
  if (key.size() > table.key_columns)
    return mistake(table, "a key of " + std::to_string(key.size()) + " values was asked for and " +
                              std::to_string(table.key_columns) + " columns are the key");
  for (std::size_t i = 0; i < key.size(); ++i)
    if (const auto fits = check_value(table, i, key[i], false); !fits) return fits;
  return {};
}

Result<void> check_change(const Put& put) {
  const Table& table = *put.table;
  if (put.row.size() != table.columns.size())
    return mistake(table, "a row has " + std::to_string(put.row.size()) + " values and " +
                              std::to_string(table.columns.size()) + " columns");
  for (std::size_t i = 0; i < put.row.size(); ++i)
    if (const auto fits = check_value(table, i, put.row[i], i >= table.key_columns); !fits)
      return fits;
  return {};
}

Result<void> check_change(const Erase& erase) {
  return check_prefix(*erase.table, erase.key);
}

Result<void> check_change(const EraseBelow& erase) {
  const auto column = index_of(*erase.table, erase.column);
  if (!column || erase.table->columns[*column].type != ColumnType::integer)
    return mistake(*erase.table, "it has no integer column " + std::string(erase.column));
  return {};
}

}  // namespace

std::optional<std::size_t> index_of(const Table& table, std::string_view column) {
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (table.columns[i].name == column) return i;
  return std::nullopt;
}

Result<void> check(const Change& change) {
  return std::visit([](const auto& one) { return check_change(one); }, change);
}

Result<void> check(const Batch& batch) {
  for (const Change& change : batch)
    if (const auto fits = check(change); !fits) return fits;
  return {};
}

Result<void> check(const Scan& scan) {
  if (const auto fits = check_prefix(*scan.table, scan.prefix); !fits) return fits;
  if (!scan.beyond) return {};
  if (scan.prefix.size() >= scan.table->key_columns)
    return mistake(*scan.table, "nothing of the key is left to be beyond of");
  return check_value(*scan.table, scan.prefix.size(), *scan.beyond, false);
}

}  // namespace muster::store
