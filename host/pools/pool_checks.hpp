// From the pool settings of a worker configuration to the pool of the fleet, with all that is wrong
// with them beyond what the rules' library can know.
#pragma once

#include <muster/rules/pool_settings.hpp>

#include "host/fleet/model/configuration.hpp"
#include "host/pools/finding.hpp"
#include "host/pools/provider_facts.hpp"

namespace muster::pools {

struct ReadPool {
  fleet::PoolSpec pool;  // without id, origin and launch configurations; only if nothing is wrong
  Findings findings;
};

// Pure. Also for settings with problems: what could be read of them is checked.
ReadPool read_pool(const rules::PoolSettings& settings, const ProviderContext& provider_context);

}  // namespace muster::pools
