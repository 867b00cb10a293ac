// One connection to PostgreSQL. Every wait has a deadline; what fails says what to do.
#pragma once

#include <chrono>
#include <libpq-fe.h>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <muster/error.hpp>

#include "host/postgres/connection_settings.hpp"
#include "host/postgres/statements.hpp"

namespace muster::postgres {

struct ResultDeleter {
  void operator()(PGresult* result) const { PQclear(result); }
};
using ResultPointer = std::unique_ptr<PGresult, ResultDeleter>;

using Parameters = std::span<const std::optional<std::string>>;

// THREADS: one at a time.
class Connection {
 public:
  // Connects to the first of the servers that takes changes. Blocks as long as the settings say.
  static Result<std::unique_ptr<Connection>> open(const ConnectionSettings& settings);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // One statement with parameters, or several without; waits for the answer to the last.
  Result<ResultPointer> run(const std::string& sql, Parameters parameters = {});

  // Waits until the socket is readable, or `writable` too, and takes in what came. Fails with code
  // connection_lost at the deadline: then nobody knows what the server did.
  Result<void> wait(bool writable, std::chrono::steady_clock::time_point deadline);
  std::chrono::steady_clock::time_point deadline() const;

  Error failure(const PGresult* result = nullptr) const;
  bool broken() const { return PQstatus(handle_) != CONNECTION_OK; }
  PGconn* handle() const { return handle_; }
  const std::string& database() const { return database_; }

  // The name of the prepared statement; `made`: it is new, and must be prepared first.
  struct Prepared {
    std::string name;
    bool made = false;
  };
  Prepared prepared(const StatementKey& key);
  // Prepares it now, if it is new.
  Result<std::string> prepare(const StatementKey& key);

 private:
  Connection(PGconn* handle, ConnectionSettings settings);
  Result<void> prepare_session();

  PGconn* handle_;
  const ConnectionSettings settings_;
  std::string database_;
  std::map<StatementKey, std::string> statements_;
};

// The pointers that libpq takes.
std::vector<const char*> pointers_to(Parameters parameters);

// A field of the answer's first row; empty if there is none.
std::string field(const ResultPointer& result, int column, int row = 0);
std::int64_t number_field(const ResultPointer& result, int column, int row = 0);

}  // namespace muster::postgres
