// The list of pools, searched, filtered and sorted.
#pragma once

#include "host/api/handlers.hpp"

namespace muster::api {

// Must not wait: nothing is decided meanwhile.
Answer list_pools(const Call& call, const fleet::Fleet& fleet, fleet::Now now);

}  // namespace muster::api
