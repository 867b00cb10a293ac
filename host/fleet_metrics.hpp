// What the fleet, its store and its events count, for /metrics.
#pragma once

#include "host/fleet_of_host.hpp"
#include "host/metrics/metrics.hpp"

namespace muster {

void write_fleet_metrics(FleetOfHost& host, metrics::Page& page);

}  // namespace muster
