// The one row that says which host leads, until when, and what was committed last.
#pragma once

#include "host/postgres/connection.hpp"

namespace muster::postgres {

struct LeadRow {
  std::int64_t epoch = 0;            // grows with every change of the leader
  std::string holder;                // empty: nobody yet
  std::string address;               // where the leader serves
  std::chrono::milliseconds left{};  // of the lease, by the database's clock; negative: it is over
  std::int64_t number = 0;           // of the last commit
  std::string token;                 // of the last commit, made up by who committed it
};

Result<LeadRow> read_lead_row(Connection& connection);

// A statement of a commit's own transaction: number and token of the commit. Fails with SQLSTATE
// 22012 if the number is not the next one, or with an epoch, if that is not the leader's any more.
// $1 token, $2 the number before, $3 the epoch or NULL, $4 the changes for those that follow or
// NULL.
extern const char* const record_commit;
inline constexpr std::string_view commit_not_recorded = "22012";

}  // namespace muster::postgres
