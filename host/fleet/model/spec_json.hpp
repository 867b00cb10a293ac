// A pool's specification as the store keeps it.
#pragma once

#include "host/fleet/model/configuration.hpp"

namespace muster::fleet {

// Without the launch configurations, which have rows of their own.
json::object to_json(const PoolSpec& spec);
Result<PoolSpec> pool_spec_from_json(const json::object& document);

}  // namespace muster::fleet
