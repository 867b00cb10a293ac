// What the fleet, its store and its events count, for /metrics.
#pragma once

#include "host/notifications/service.hpp"
#include "host/wiring/fleet_runtime.hpp"
#include "lib/metrics/metrics.hpp"

namespace muster {

// What waits in the queue and what is held, by team and by pool.
void write_queue_load(const fleet::Fleet& fleet, fleet::Now now, metrics::Page& page);

void write_fleet_metrics(FleetRuntime& host, metrics::Page& page);
void write_notification_metrics(const notifications::Numbers& numbers, metrics::Page& page);

}  // namespace muster
