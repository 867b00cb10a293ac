#include "host/store/sqlite_schema.hpp"

#include <set>

namespace muster::store::sqlite {
namespace {

// Which muster made which step, for the sentence that refuses a newer database.
constexpr const char* history = R"sql(
CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, muster TEXT) STRICT;
)sql";

std::string step_of(const Migration& migration, std::size_t version) {
  const std::string number = std::to_string(version);
  return "BEGIN IMMEDIATE; PRAGMA application_id = " + std::to_string(application_id) + ";" +
         history + std::string(migration.sql) + "; INSERT INTO migrations VALUES (" + number +
         ", '" MUSTER_VERSION "'); PRAGMA user_version = " + number + "; COMMIT;";
}

Error newer(Connection& connection, const std::filesystem::path& file, std::int64_t version,
            std::size_t known) {
  const auto writer =
      connection.text("SELECT muster FROM migrations ORDER BY version DESC LIMIT 1");
  const std::string name = writer && !writer->empty() ? "muster " + *writer : "a newer muster";
  return Error::config("the database " + file.string() + " was written by " + name + " (version " +
                       std::to_string(version) +
                       " of its tables; this is muster " MUSTER_VERSION
                       ", which knows versions up to " +
                       std::to_string(known) + "): install that muster again, or put " +
                       "the copy from before its update in place, " + file.string() + ".before-" +
                       std::to_string(known + 1) + " or later, and lose what happened since");
}

Result<std::vector<std::string>> texts_of(Connection& connection, const char* sql) {
  auto statement = connection.prepare(sql);
  if (!statement) return statement.error();
  std::vector<std::string> texts;
  for (;;) {
    const auto row = connection.step(statement->get());
    if (!row) return row.error();
    if (!*row) return texts;
    if (const auto* words = sqlite3_column_text(statement->get(), 0))
      texts.emplace_back(reinterpret_cast<const char*>(words));
  }
}

using Columns = std::set<std::string>;

Result<Columns> columns_of(Connection& connection) {
  const auto texts = texts_of(
      connection,
      "SELECT t.name || '.' || c.name || ' ' || c.type || ' ' || c.pk FROM sqlite_schema t, "
      "pragma_table_info(t.name) c WHERE t.type = 'table'");
  if (!texts) return texts.error();
  return Columns(texts->begin(), texts->end());
}

}  // namespace

Result<std::size_t> version_of(Connection& connection, const std::filesystem::path& file,
                               std::span<const Migration> steps) {
  const auto version = connection.number("PRAGMA user_version");
  if (!version) return version.error();
  if (*version < 0) return Error::internal("the database " + file.string() + " has no version");
  if (*version > static_cast<std::int64_t>(steps.size()))
    return newer(connection, file, *version, steps.size());
  return static_cast<std::size_t>(*version);
}

Result<void> migrate(Connection& connection, std::span<const Migration> steps) {
  const auto version = connection.number("PRAGMA user_version");
  if (!version) return version.error();
  for (auto next = static_cast<std::size_t>(*version); next < steps.size(); ++next) {
    const auto made = connection.run(step_of(steps[next], next + 1));
    if (made) continue;
    if (connection.in_transaction()) (void)connection.run("ROLLBACK");
    Error error = made.error();
    if (next == 0) return error;  // a new database, there was nothing to update
    error.message = "the update of the tables to version " + std::to_string(next + 1) +
                    " was undone: " + error.message;
    return error;
  }
  return {};
}

Result<std::vector<std::string>> tables_of(Connection& connection) {
  return texts_of(connection, "SELECT name FROM sqlite_schema WHERE type = 'table'");
}

Result<void> check_tables(Connection& connection, const std::filesystem::path& file,
                          std::span<const Migration> steps) {
  auto model = Connection::open(":memory:", Access::create);
  if (!model) return model.error();
  if (auto made = migrate(**model, steps); !made) return made;
  const auto wanted = columns_of(**model);
  if (!wanted) return wanted.error();
  const auto found = columns_of(connection);
  if (!found) return found.error();
  for (const std::string& column : *wanted)
    if (!found->contains(column))
      return Error::internal("the database " + file.string() +
                             " is damaged (it should have a column " + column + ")");
  return {};
}

}  // namespace muster::store::sqlite
