// The table of this API's endpoints.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "host/endpoints/endpoint.hpp"

namespace muster::taskcluster_api {

using endpoints::Endpoint;

inline constexpr std::string_view base_path = "/api/worker-manager/v1";

// In the order in which routes are tried.
std::span<const Endpoint> endpoints();

// A bug of the caller if there is none.
const Endpoint& endpoint(std::string_view name);

// "/worker-pool/<workerPoolId>", as clients know it.
std::string public_route(const Endpoint& endpoint);

}  // namespace muster::taskcluster_api
