#include "host/postgres/lead_row.hpp"

namespace muster::postgres {

// A division by zero is how plain SQL refuses to go on. The row stays locked until the commit, so a
// change of the leader comes before it or after it.
const char* const record_commit =
    "WITH recorded AS (UPDATE muster_lead SET number = number + 1, token = $1, "
    "at = clock_timestamp() WHERE id = 1 AND number = $2 AND epoch = coalesce($3::bigint, epoch) "
    "RETURNING number, at), logged AS (INSERT INTO muster_changes SELECT number, $1, $4, at "
    "FROM recorded WHERE $4::text IS NOT NULL) SELECT 1 / (SELECT count(*) FROM recorded)";

Result<LeadRow> read_lead_row(Connection& connection) {
  const auto found = connection.run(
      "SELECT epoch, holder, address, "
      "floor(extract(epoch FROM expires - clock_timestamp()) * 1000)::bigint, number, token "
      "FROM muster_lead WHERE id = 1");
  if (!found) return found.error();
  if (PQntuples(found->get()) != 1)
    return Error::internal("the database " + connection.database() +
                           " has lost the row of its leader: restore a backup");
  return LeadRow{.epoch = number_field(*found, 0),
                 .holder = field(*found, 1),
                 .address = field(*found, 2),
                 .left = std::chrono::milliseconds(number_field(*found, 3)),
                 .number = number_field(*found, 4),
                 .token = field(*found, 5)};
}

}  // namespace muster::postgres
