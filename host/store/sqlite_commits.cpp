#include "host/store/sqlite_commits.hpp"

#include <array>

namespace muster::store::sqlite {
namespace {

constexpr std::array columns{Column{"id", ColumnType::integer},
                             Column{"number", ColumnType::integer},
                             Column{"at", ColumnType::integer}};
constexpr Table commits{"commits", columns, 1};

}  // namespace

Result<void> make_commits_table(Connection& connection) {
  return connection.run(
      "CREATE TABLE IF NOT EXISTS commits (id INTEGER PRIMARY KEY, number INTEGER, at INTEGER) "
      "STRICT");
}

Result<Commit> last_commit(Connection& connection) {
  const auto tables = connection.number(
      "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'commits'");
  if (!tables) return tables.error();
  if (*tables == 0) return Commit{};
  const auto number = connection.number("SELECT number FROM commits");
  if (!number) return number.error();
  const auto at = connection.number("SELECT at FROM commits");
  if (!at) return at.error();
  return Commit{*number, Time(std::chrono::milliseconds(*at))};
}

Put row_of(const Commit& commit) {
  return {&commits,
          {std::int64_t{1}, commit.number, std::int64_t{commit.at.time_since_epoch().count()}}};
}

}  // namespace muster::store::sqlite
