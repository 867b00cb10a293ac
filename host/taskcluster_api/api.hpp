// The worker-manager API of Taskcluster, version 1, as this host answers it, and the three calls of
// RFC 191 for single launch configurations.
#pragma once

#include <memory>

#include "host/taskcluster_api/parts.hpp"
#include "lib/http/router.hpp"

namespace muster::taskcluster_api {

class Api;

// Adds everything under /api/worker-manager/v1, /references and /schemas.
std::shared_ptr<const Api> add_routes(http::Router& router, Parts parts);

}  // namespace muster::taskcluster_api
