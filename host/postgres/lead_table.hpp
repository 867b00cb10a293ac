// The table of leases in a PostgreSQL database.
#pragma once

#include <chrono>
#include <memory>

#include "host/leadership/lease_table.hpp"
#include "host/postgres/connection_settings.hpp"

namespace muster::postgres {

// Connects when it is first asked, and again after a failure. A host that did not look for
// `silence` is gone, and another may have its name.
std::unique_ptr<leadership::LeaseTable> lead_table(
    ConnectionSettings settings, std::chrono::milliseconds silence = std::chrono::seconds(10));

}  // namespace muster::postgres
