#include "host/store/sqlite_connection.hpp"

#include <cctype>
#include <cerrno>
#include <cstring>

namespace muster::store::sqlite {
namespace {

std::string quoted(std::string_view name) {
  return '"' + std::string(name) + '"';
}

std::string listed(std::span<const Column> columns, const char* after = "") {
  std::string text;
  for (const Column& column : columns)
    text += (text.empty() ? "" : ", ") + quoted(column.name) + after;
  return text;
}

std::string equal_to_key(const Table& table, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += (i == 0 ? " WHERE " : " AND ") + quoted(table.columns[i].name) + " = ?";
  return text;
}

std::string put_sql(const Table& table) {
  std::string places;
  for (std::size_t i = 0; i < table.columns.size(); ++i) places += i == 0 ? "?" : ", ?";
  return "INSERT OR REPLACE INTO " + quoted(table.name) + " (" + listed(table.columns) +
         ") VALUES (" + places + ")";
}

std::string scan_sql(const Table& table, std::size_t prefix, bool beyond, bool backwards) {
  std::string sql = "SELECT " + listed(table.columns) + " FROM " + quoted(table.name) +
                    equal_to_key(table, prefix);
  if (beyond)
    sql += (prefix == 0 ? " WHERE " : " AND ") + quoted(table.columns[prefix].name) +
           (backwards ? " < ?" : " > ?");
  return sql + " ORDER BY " +
         listed(table.columns.first(table.key_columns), backwards ? " DESC" : "") + " LIMIT ?";
}

std::string sql_of(const StatementKey& key) {
  const auto& [table, kind, count, backwards] = key;
  switch (kind) {
    case StatementKind::put:
      return put_sql(*table);
    case StatementKind::erase:
      return "DELETE FROM " + quoted(table->name) + equal_to_key(*table, count);
    case StatementKind::erase_below:
      return "DELETE FROM " + quoted(table->name) + " WHERE " + quoted(table->columns[count].name) +
             " < ?";
    case StatementKind::scan:
    case StatementKind::scan_beyond:
      return scan_sql(*table, count, kind == StatementKind::scan_beyond, backwards);
  }
  return {};
}

bool no_room(int error_number) {
  return error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
}

Error error_of(const std::string& file, int code, const std::string& words, int error_number) {
  const std::string database = "the database " + file;
  switch (code & 0xff) {
    case SQLITE_FULL:
      return Error::capacity(database +
                             " cannot grow, its disk is full: make room there; what waits to be "
                             "written is kept and written then");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Error::internal(database + " is damaged (" + words + ")");
    case SQLITE_IOERR: {
      if (no_room(error_number)) return error_of(file, SQLITE_FULL, words, 0);
      if (code == SQLITE_IOERR_DATA)
        return Error::internal(database +
                               " is damaged (a page does not hold what was written into it)");
      const std::string reason =
          error_number != 0 ? words + ", " + std::strerror(error_number) : words;
      if (code == SQLITE_IOERR_READ || code == SQLITE_IOERR_CORRUPTFS)
        return Error::internal(database + " is damaged (it cannot be read: " + reason + ")");
      return Error::transient(database + " cannot be read or written (" + reason +
                              "): look at the disk and at the kernel's log");
    }
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error::transient(database + " is held by another program: end that program");
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return Error::config(database + " cannot be opened for writing (" + words +
                           "): the user that runs musterd must own the file and its folder, and "
                           "the disk must not be read-only");
    case SQLITE_NOMEM:
      return Error::transient(database + ": there is no memory left");
    default:
      return Error::invalid(database + " refuses a statement (" + words +
                            "); this is a bug in muster");
  }
}

// SQLite often forgets why a write failed, but its files remember: the log, then the file itself.
int system_error_of(sqlite3* handle) {
  if (const int known = sqlite3_system_errno(handle)) return known;
  int number = 0;
  sqlite3_file* log = nullptr;
  sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, static_cast<void*>(&log));
  if (log && log->pMethods) log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &number);
  if (number == 0) sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
  return number;
}

Error error_of(sqlite3* handle, const std::filesystem::path& file, int code) {
  const int extended = handle ? sqlite3_extended_errcode(handle) : code;
  const int known = (extended & 0xff) == (code & 0xff) ? extended : code;
  return error_of(file.string(), known, handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code),
                  handle && (known & 0xff) == SQLITE_IOERR ? system_error_of(handle) : 0)
      .with_code("sqlite " + std::to_string(known));
}

int flags_of(Access access) {
  // Every connection is used by one thread at a time: SQLite's own lock for each call is not
  // needed.
  switch (access) {
    case Access::create:
      return SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case Access::write:
      return SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE;
    case Access::read:
      return SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READONLY;
    case Access::finished:
      return SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  }
  return 0;
}

// What SQLite takes as the file's name: a URI where it must be told more.
std::string name_of(const std::filesystem::path& file, Access access) {
  if (access != Access::finished) return file.string();
  constexpr const char* digits = "0123456789abcdef";
  std::string uri = "file:";
  for (const char letter : std::filesystem::absolute(file).string()) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '/' || letter == '.' || letter == '-' || letter == '_' || std::isalnum(byte) != 0)
      uri += letter;
    else
      (uri += '%').append({digits[byte >> 4], digits[byte & 15]});
  }
  return uri + "?immutable=1";
}

}  // namespace

Result<std::unique_ptr<Connection>> Connection::open(const std::filesystem::path& file,
                                                     Access access, const char* vfs) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name_of(file, access).c_str(), &handle, flags_of(access), vfs);
  std::unique_ptr<Connection> connection(new Connection(handle, file));
  if (code != SQLITE_OK) return connection->error(code);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, 5000);
  // A damaged or forged file must not get further than an error.
  const auto wary = connection->run("PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF");
  if (!wary) return wary.error();
  return connection;
}

Connection::~Connection() {
  statements_.clear();
  sqlite3_close(handle_);
}

Error Connection::error(int code) const {
  return error_of(handle_, file_, code);
}

Result<void> Connection::run(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code);
  return {};
}

Result<Statement> Connection::prepare(const std::string& sql, unsigned flags) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_, sql.c_str(), static_cast<int>(sql.size()) + 1, flags,
                                      &statement, nullptr);
  if (code != SQLITE_OK) return error(code);
  return Statement(statement);
}

Result<std::int64_t> Connection::number(const std::string& sql) {
  auto statement = prepare(sql);
  if (!statement) return statement.error();
  const auto row = step(statement->get());
  if (!row) return row.error();
  return *row ? sqlite3_column_int64(statement->get(), 0) : 0;
}

Result<std::string> Connection::text(const std::string& sql) {
  auto statement = prepare(sql);
  if (!statement) return statement.error();
  const auto row = step(statement->get());
  if (!row) return row.error();
  const unsigned char* words = *row ? sqlite3_column_text(statement->get(), 0) : nullptr;
  return words ? std::string(reinterpret_cast<const char*>(words)) : std::string();
}

Result<sqlite3_stmt*> Connection::prepared(const StatementKey& key) {
  if (const auto known = statements_.find(key); known != statements_.end())
    return known->second.get();
  auto statement = prepare(sql_of(key), SQLITE_PREPARE_PERSISTENT);
  if (!statement) return statement.error();
  return statements_.emplace(key, std::move(*statement)).first->second.get();
}

Result<void> Connection::bind(sqlite3_stmt* statement, int position, const Value& value) {
  int code = SQLITE_OK;
  if (const auto* number = std::get_if<std::int64_t>(&value))
    code = sqlite3_bind_int64(statement, position, *number);
  else if (const auto* real = std::get_if<double>(&value))
    code = sqlite3_bind_double(statement, position, *real);
  else if (const auto* words = std::get_if<std::string>(&value))
    // Not copied: the value outlives the step.
    code = sqlite3_bind_text64(statement, position, words->data(), words->size(), SQLITE_STATIC,
                               SQLITE_UTF8);
  else
    code = sqlite3_bind_null(statement, position);
  if (code != SQLITE_OK) return error(code);
  return {};
}

Result<bool> Connection::step(sqlite3_stmt* statement) {
  const int code = sqlite3_step(statement);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return error(code);
}

}  // namespace muster::store::sqlite
