// Who a machine is, and whether it is as its pool wants it.
#pragma once

#include <muster/provider.hpp>

#include "plugins/provider/static/power.hpp"
#include "plugins/provider/static/settings.hpp"

namespace muster::static_machines {

// The part of {"v": 1} of a machine's row that this provider reads again.
json::object row_of(const Machine& machine);

// As Provider::identify. `power` knows which of the powered machines are awake.
Result<Identity> identify(const Settings& settings, Power& power, const IdentifyRequest& request);

}  // namespace muster::static_machines
