// What machines cost at a host's providers, as they said when the host launched some.
#pragma once

#include "cli/host_address.hpp"
#include "cli/simulate/assumptions.hpp"

namespace muster::cli {

// The price of the newest worker of each provider and instance type that the host knows. Ends the
// program with a sentence if the host does not answer.
Assumptions prices_of_host(const HostOptions& host, bool as_json);

}  // namespace muster::cli
