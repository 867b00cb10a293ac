// The section [fleet.outcomes] of the host's configuration.
#pragma once

#include <muster/json.hpp>

#include "host/config/host_configuration.hpp"

namespace muster::config {

// `from` has passed the schema.
FleetSettings::Outcomes read_outcomes(const json::object& from);

}  // namespace muster::config
