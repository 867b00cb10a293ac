// The fleet's state as a host that follows keeps it: a copy in memory, never older than a moment,
// so that a takeover need not read everything, and its problems are known before.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "host/postgres/replica.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/log.hpp"

namespace muster {

// What makes up the state: all that Fleet::load and the clients need but the log of events.
postgres::FollowedTables followed_tables();

// Scans of followed tables are answered by the copy, others by the database. Takes no changes.
class WarmStore final : public store::Store {
 public:
  // Both are borrowed.
  WarmStore(const store::MemoryStore& copy, const store::Store& database)
      : copy_(copy), database_(database) {}

  Result<void> commit(const store::Batch& batch) override;
  Result<void> scan(const store::Scan& scan, const store::RowSink& sink) const override;
  Result<void> backup(const std::string& file) const override;

 private:
  const store::MemoryStore& copy_;
  const store::Store& database_;
};

class FollowerState {
 public:
  struct Parts {
    postgres::ConnectionSettings database;
    std::filesystem::path data_directory;  // with secrets.key
    const Clock* clock = nullptr;          // borrowed
    Log log = {};
    std::chrono::milliseconds look_every{200};
    // Between two readings of everything, at least; and as long as nine of them took.
    std::chrono::milliseconds load_every = std::chrono::seconds(2);
  };
  explicit FollowerState(Parts parts);
  ~FollowerState();
  FollowerState(const FollowerState&) = delete;
  FollowerState& operator=(const FollowerState&) = delete;

  // THREADS: any.
  // For how long the copy was not known to be complete; nothing: there is none.
  std::optional<std::chrono::milliseconds> lag() const;
  // Why this host cannot lead; empty: nothing is known.
  std::string problem() const;

  // Ends the thread and takes in what was committed until now; for a host that just got the lead.
  // Null: there is no copy that can be relied on.
  std::unique_ptr<postgres::Replica> finish();

 private:
  void run();
  void end_thread();
  // When to look again.
  std::chrono::milliseconds step();
  Result<void> follow();
  void load();
  void complete_as_of(SteadyTime asked);

  const Parts parts_;
  std::unique_ptr<postgres::Replica> replica_;  // the thread's own
  SteadyTime next_load_ = SteadyTime::min();
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::optional<SteadyTime> complete_;
  std::string problem_;
  std::thread thread_;
};

}  // namespace muster
