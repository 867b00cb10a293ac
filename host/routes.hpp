// All paths that the host answers to, in one place. Handlers translate between HTTP and the host's
// own words; they decide nothing.
#pragma once

#include <functional>

#include "host/base/clock.hpp"
#include "host/host_status.hpp"
#include "host/http/router.hpp"

namespace muster {

// What handlers may ask. Everything outlives the server.
struct Asked {
  const PublishedStatus& status;
  const Clock& clock;
  std::function<json::object()> plugin_summary;
};

void add_routes(http::Router& router, const Asked& asked);

}  // namespace muster
