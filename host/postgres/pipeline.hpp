// Many statements in one round trip: they go out one after the other without a wait, and the
// answers are read at the end.
#pragma once

#include "host/postgres/connection.hpp"

namespace muster::postgres {

// THREADS: one at a time. After a failure the connection is of no use any more: close it.
class Pipeline {
 public:
  explicit Pipeline(Connection& connection)
      : connection_(connection), deadline_(connection.deadline()) {}

  Result<void> begin();
  Result<void> send(const StatementKey& key, Parameters parameters);
  Result<void> send(const std::string& sql, Parameters parameters = {});
  // Waits for all answers. The first error, or that the last statement was not a commit that took
  // place. With code connection_lost nobody knows what the server did.
  Result<void> finish();

 private:
  Result<void> sent(int accepted);
  Result<void> flush();

  Connection& connection_;
  const std::chrono::steady_clock::time_point deadline_;
  std::size_t unflushed_ = 0;
};

}  // namespace muster::postgres
