// The database that simulated hosts share: rows, and the row that says who leads. Every call is one
// transaction, as in host/postgres.
#pragma once

#include <optional>
#include <string>

#include "host/leadership/lease_table.hpp"
#include "host/store/memory_store.hpp"

namespace muster::simulation {

using std::chrono::milliseconds;

enum class Commit { done, refused };

class SharedDatabase {
 public:
  // What a new leader reads before it decides anything.
  struct Snapshot {
    store::MemoryStore::Contents contents;
    std::int64_t number = 0;
  };
  struct Row {
    std::int64_t epoch = 0, number = 0;
    std::string token;
  };

  explicit SharedDatabase(bool checks_epochs) : checks_epochs_(checks_epochs) {}

  // `now` is the database's own clock, which may be set.
  leadership::Lead look(milliseconds now) const;
  std::optional<std::int64_t> acquire(const std::string& holder, milliseconds length,
                                      milliseconds now);
  bool renew(std::int64_t epoch, milliseconds length, milliseconds now);
  void release(std::int64_t epoch);

  // Refused: `before` is not the number of the last commit, or the epoch is not the leader's.
  Commit commit(std::int64_t epoch, std::int64_t before, const std::string& token,
                const store::Batch& batch);
  Row row() const { return {epoch_, number_, token_}; }
  Snapshot read() const { return {rows_.contents(), number_}; }
  const store::MemoryStore& rows() const { return rows_; }
  std::int64_t takeovers() const { return grants_ - 1; }

 private:
  const bool checks_epochs_;
  store::MemoryStore rows_;
  std::int64_t epoch_ = 0, number_ = 0, grants_ = 0;
  std::string holder_, token_;
  milliseconds expires_{-1};
};

}  // namespace muster::simulation
