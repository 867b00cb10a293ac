#include "host/postgres/copy_in.hpp"

#include "host/postgres/values.hpp"
#include "host/store/checks.hpp"

namespace muster::postgres {
namespace {

using store::Table;
using store::Value;

Result<void> send_all(Connection& connection, std::string& text) {
  for (;;) {
    const int put = PQputCopyData(connection.handle(), text.data(), static_cast<int>(text.size()));
    if (put < 0) return connection.failure();
    if (put == 1) break;
    if (auto waited = connection.wait(true, connection.deadline()); !waited) return waited;
  }
  text.clear();
  return {};
}

void append_line(std::string& text, const std::vector<Value>& row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) text += '\t';
    append_copy_field(text, row[i]);
  }
  text += '\n';
}

Result<std::int64_t> send_rows(Connection& connection, const Table& table, const RowSource& next) {
  constexpr std::size_t enough = 256 * 1024;
  std::string text;
  std::int64_t rows = 0;
  while (const std::vector<Value>* row = next()) {
    if (auto fits = store::check(store::Change{store::Put{&table, *row}}); !fits)
      return fits.error();
    append_line(text, *row);
    ++rows;
    if (text.size() < enough) continue;
    if (auto sent = send_all(connection, text); !sent) return sent.error();
  }
  if (auto sent = send_all(connection, text); !sent) return sent.error();
  return rows;
}

Result<void> end(Connection& connection, const char* problem) {
  for (;;) {
    const int put = PQputCopyEnd(connection.handle(), problem);
    if (put < 0) return connection.failure();
    if (put == 1) break;
    if (auto waited = connection.wait(true, connection.deadline()); !waited) return waited;
  }
  while (PQflush(connection.handle()) == 1)
    if (auto waited = connection.wait(true, connection.deadline()); !waited) return waited;
  std::optional<Error> error;
  for (;;) {
    while (PQisBusy(connection.handle()) == 1)
      if (auto waited = connection.wait(false, connection.deadline()); !waited) return waited;
    const ResultPointer result(PQgetResult(connection.handle()));
    if (!result) break;
    if (PQresultStatus(result.get()) == PGRES_FATAL_ERROR && !error)
      error = connection.failure(result.get());
  }
  if (error) return *error;
  return {};
}

}  // namespace

Result<std::int64_t> copy_in(Connection& connection, const Table& table, const RowSource& next) {
  std::string columns;
  for (const store::Column& column : table.columns)
    columns += (columns.empty() ? "" : ", ") + quoted(column.name);
  const auto begun = connection.run("COPY " + quoted(table.name) + " (" + columns + ") FROM STDIN");
  if (!begun) return begun.error();
  auto sent = send_rows(connection, table, next);
  const auto ended = end(connection, sent ? nullptr : "a row cannot be copied");
  if (sent && !ended) return ended.error();
  return sent;
}

}  // namespace muster::postgres
