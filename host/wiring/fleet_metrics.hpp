// What the fleet, its store and its events count, for /metrics.
#pragma once

#include "host/wiring/fleet_runtime.hpp"
#include "lib/metrics/metrics.hpp"

namespace muster {

void write_fleet_metrics(FleetRuntime& host, metrics::Page& page);

}  // namespace muster
