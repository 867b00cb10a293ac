// The table of leases in a PostgreSQL database.
#pragma once

#include <memory>

#include "host/leadership/lease_table.hpp"
#include "host/postgres/connection_settings.hpp"

namespace muster::postgres {

// Connects when it is first asked, and again after a failure.
std::unique_ptr<leadership::LeaseTable> lead_table(ConnectionSettings settings);

}  // namespace muster::postgres
