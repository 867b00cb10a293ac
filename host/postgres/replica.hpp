// A copy in memory of the tables that make up the fleet's state, kept up to date by the changes
// that the leader commits. Whatever does not fit, the whole is read again.
#pragma once

#include <memory>

#include "host/postgres/change_log.hpp"
#include "host/postgres/connection_settings.hpp"
#include "host/store/memory_store.hpp"

namespace muster::postgres {

// THREADS: one at a time.
class Replica {
 public:
  // The tables are borrowed.
  Replica(ConnectionSettings settings, FollowedTables tables);
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  enum class Followed { nothing_new, changed, more /* there is more: ask again */ };
  // Takes over what was committed since. After `nothing_new` or `changed` the copy is complete as
  // of the moment of the call, or later. Fails if the database cannot be reached or has no tables
  // yet; and with the code `gap` if the copy cannot go on from where it is: then load().
  Result<Followed> follow();
  static constexpr std::string_view gap = "gap";

  // Reads everything, as of one moment.
  Result<void> load();

  bool loaded() const;
  std::int64_t number() const;  // of the last commit that is in it
  const store::MemoryStore& store() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace muster::postgres
