// All paths of the relay.
#pragma once

#include "lib/http/router.hpp"

namespace muster::metrics {
class Metrics;
}

namespace muster::relay {

class Relay;
class Readiness;

// All are borrowed. `workers` wait for what readiness looks at.
void add_routes(http::Router& router, Relay& relay, Readiness& readiness,
                http::WorkerThreads& workers, const metrics::Metrics& metrics);

}  // namespace muster::relay
