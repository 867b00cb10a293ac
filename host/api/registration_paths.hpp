// What the host's own API says about registration, beside what Taskcluster's clients know: the
// challenges that machines sign, and the way in for machines that a relay vouches for.
#pragma once

#include <memory>

#include "host/taskcluster_api/call.hpp"

namespace muster::taskcluster_api {

void add_own_paths(http::Router& router, const std::shared_ptr<const Api>& api);

}  // namespace muster::taskcluster_api
