// The store in a PostgreSQL database. One connection writes, others read beside it; all of them are
// made again when they are lost.
//
// A batch is one transaction and one round trip. It records its number and a token of its own in
// the row of the leader (lead_row.hpp), so that
//   - a leader that was superseded commits nothing, whatever it believes;
//   - a commit whose answer was lost is asked for, and never guessed;
//   - what a server that was cut off commits later is recognised, and never done twice.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "host/postgres/connection_settings.hpp"
#include "host/store/commit_mark.hpp"
#include "host/store/migrations.hpp"
#include "host/store/store.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/log.hpp"

namespace muster::postgres {

struct StoreSettings {
  ConnectionSettings connection;
  // Commits only as long as this is the leader's; empty: no host leads, as in tests and copies.
  std::optional<std::int64_t> epoch = {};
  // Where the number of the last commit is noted, to notice a database that lost some. Empty: not.
  std::filesystem::path mark = {};
  // Changes of these are also logged for hosts that follow; none: nothing is.
  std::span<const store::Table* const> followed = {};
  std::span<const store::Migration> migrations = store::migrations();
  std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>();
  Log log = {};
};

class PostgresStore final : public store::Store {
 public:
  // Makes and updates the tables. `config`: an operator must act; `transient`: the database cannot
  // be reached now.
  static Result<std::unique_ptr<PostgresStore>> open(StoreSettings settings);
  ~PostgresStore() override;

  // Error::transient with code `superseded`: another host leads; for ever.
  Result<void> commit(const store::Batch& batch) override;
  Result<void> scan(const store::Scan& scan, const store::RowSink& sink) const override;
  // Error::unsupported: says what to use.
  Result<void> backup(const std::string& file) const override;
  std::string notice() const override;

  // What was acknowledged before this was opened and is not there.
  const std::optional<store::MissingCommits>& missing() const;

 private:
  struct State;
  explicit PostgresStore(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace muster::postgres
