#include "host/store/sqlite_rows.hpp"

#include <limits>

#include "host/store/checks.hpp"

namespace muster::store::sqlite {
namespace {

Result<void> run_with(Connection& connection, const StatementKey& key,
                      std::span<const Value> values) {
  const auto statement = connection.prepared(key);
  if (!statement) return statement.error();
  const ResetStatement reset(*statement);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (auto bound = connection.bind(*statement, static_cast<int>(i) + 1, values[i]); !bound)
      return bound;
  const auto stepped = connection.step(*statement);
  if (!stepped) return stepped.error();
  return {};
}

Result<void> apply_one(Connection& connection, const Put& put) {
  return run_with(connection, {put.table, StatementKind::put, 0, false}, put.row);
}

Result<void> apply_one(Connection& connection, const Erase& erase) {
  return run_with(connection, {erase.table, StatementKind::erase, erase.key.size(), false},
                  erase.key);
}

Result<void> apply_one(Connection& connection, const EraseBelow& erase) {
  const Value bound = erase.bound;
  return run_with(
      connection,
      {erase.table, StatementKind::erase_below, *index_of(*erase.table, erase.column), false},
      {&bound, 1});
}

// A text goes into the buffer that the row before left behind.
void read_column(sqlite3_stmt* statement, int column, Value& value) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      value = std::int64_t{sqlite3_column_int64(statement, column)};
      return;
    case SQLITE_FLOAT:
      value = sqlite3_column_double(statement, column);
      return;
    case SQLITE_TEXT: {
      const auto* words = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
      if (auto* text = std::get_if<std::string>(&value))
        text->assign(words ? words : "", words ? size : 0);
      else
        value.emplace<std::string>(words ? words : "", words ? size : 0);
      return;
    }
    default:  // NULL, and blobs, which are never written
      value.emplace<std::monostate>();
  }
}

Result<void> bind_scan(Connection& connection, sqlite3_stmt* statement, const Scan& scan) {
  int position = 0;
  for (const Value& value : scan.prefix)
    if (auto bound = connection.bind(statement, ++position, value); !bound) return bound;
  if (scan.beyond)
    if (auto bound = connection.bind(statement, ++position, *scan.beyond); !bound) return bound;
  constexpr std::int64_t all = -1;
  constexpr std::size_t most = std::numeric_limits<std::int64_t>::max();
  const std::int64_t limit =
      scan.limit && *scan.limit <= most ? static_cast<std::int64_t>(*scan.limit) : all;
  return connection.bind(statement, ++position, limit);
}

Result<void> finish(Connection& connection, Result<void> outcome) {
  if (outcome) outcome = connection.run("COMMIT");
  // Some errors end the transaction by themselves, others leave it open.
  if (!outcome && connection.in_transaction()) (void)connection.run("ROLLBACK");
  return outcome;
}

}  // namespace

Result<void> apply(Connection& connection, const Change& change) {
  return std::visit([&](const auto& one) { return apply_one(connection, one); }, change);
}

Result<void> apply_together(Connection& connection, const Batch& batch, const Change& last) {
  if (auto begun = connection.run("BEGIN IMMEDIATE"); !begun) return begun;
  for (const Change& change : batch)
    if (auto applied = apply(connection, change); !applied)
      return finish(connection, std::move(applied));
  return finish(connection, apply(connection, last));
}

Result<void> scan(Connection& connection, const Scan& scan, const RowSink& sink) {
  const auto statement = connection.prepared(
      {scan.table, scan.beyond ? StatementKind::scan_beyond : StatementKind::scan,
       scan.prefix.size(), scan.backwards});
  if (!statement) return statement.error();
  const ResetStatement reset(*statement);
  if (auto bound = bind_scan(connection, *statement, scan); !bound) return bound;
  std::vector<Value> values(scan.table->columns.size());
  for (;;) {
    const auto row = connection.step(*statement);
    if (!row) return row.error();
    if (!*row) return {};
    for (std::size_t i = 0; i < values.size(); ++i)
      read_column(*statement, static_cast<int>(i), values[i]);
    if (!sink(values)) return {};
  }
}

}  // namespace muster::store::sqlite
