// The worker-manager API of Taskcluster, version 1, as this host answers it, and the three calls of
// RFC 191 for single launch configurations.
#pragma once

#include <memory>

#include "host/registration/failed_registrations.hpp"
#include "host/taskcluster_api/parts.hpp"
#include "lib/http/router.hpp"

namespace muster::metrics {
class Page;
}

namespace muster::taskcluster_api {

struct Api;

// Adds everything under /api/worker-manager/v1, /references and /schemas. When the last copy of
// what it returns goes, no provider is asked any more about workers that register, and those calls
// that ran have ended: it must go before the providers do.
std::shared_ptr<const Api> add_routes(http::Router& router, Parts parts, FailureLimits limits = {});

// What was counted about registrations.
void write_metrics(const Api& api, metrics::Page& page);

}  // namespace muster::taskcluster_api
