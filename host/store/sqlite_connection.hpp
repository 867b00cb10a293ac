// One connection to an SQLite file, and SQLite's failures in our words. Only the .cpp files of this
// folder include this header.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include <sqlite3.h>

#include "host/store/store.hpp"

namespace muster::store::sqlite {

// `finished`: nobody writes to the file, and nothing is made beside it; a log beside it is not
// read.
enum class Access { create, write, read, finished };

struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

enum class StatementKind { put, erase, erase_below, scan, scan_beyond };
// Its table, its kind, of how many key columns (or of which column), and whether backwards.
using StatementKey = std::tuple<const Table*, StatementKind, std::size_t, bool>;

// THREADS: one at a time.
class Connection {
 public:
  // `vfs`: SQLite's way to the file, see sqlite_checked_files.hpp; null: its own.
  static Result<std::unique_ptr<Connection>> open(const std::filesystem::path& file, Access access,
                                                  const char* vfs = nullptr);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // One or several statements without answers.
  Result<void> run(const std::string& sql);
  Result<std::int64_t> number(const std::string& sql);
  Result<std::string> text(const std::string& sql);
  Result<Statement> prepare(const std::string& sql, unsigned flags = 0);

  // Kept until the connection ends; reset it after use (ResetStatement). Borrowed.
  Result<sqlite3_stmt*> prepared(const StatementKey& key);

  Result<void> bind(sqlite3_stmt* statement, int position, const Value& value);
  // True: there is a row.
  Result<bool> step(sqlite3_stmt* statement);

  // What went wrong in the last call, which returned this code.
  Error error(int code) const;
  bool in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }
  sqlite3* handle() const { return handle_; }

 private:
  Connection(sqlite3* handle, std::filesystem::path file)
      : handle_(handle), file_(std::move(file)) {}

  sqlite3* handle_;
  std::filesystem::path file_;
  std::map<StatementKey, Statement> statements_;
};

// Gives a statement back as it was, whatever way its user leaves.
class ResetStatement {
 public:
  explicit ResetStatement(sqlite3_stmt* statement) : statement_(statement) {}
  ~ResetStatement() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
  ResetStatement(const ResetStatement&) = delete;
  ResetStatement& operator=(const ResetStatement&) = delete;

 private:
  sqlite3_stmt* statement_;
};

}  // namespace muster::store::sqlite
