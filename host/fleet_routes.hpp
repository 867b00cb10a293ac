// The paths under /api/muster/v1 that are about the fleet.
#pragma once

#include "host/fleet_of_host.hpp"
#include "host/http/router.hpp"

namespace muster {

// The fleet, or why there is none: a store that cannot be used stops the deciding, not the host.
struct FleetAccess {
  FleetOfHost* fleet = nullptr;  // borrowed; outlives the server
  std::string problem = {};
};

void add_fleet_routes(http::Router& router, http::WorkerThreads& workers,
                      const FleetAccess& access);

// For the status document and for readiness: {"state": "deciding"|"readOnly"|"off", "reason"}.
json::object fleet_summary(const FleetAccess& access);

}  // namespace muster
