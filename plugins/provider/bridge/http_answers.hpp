// Turns the answer of an HTTP service into a result or an error for the host.
#pragma once

#include <string>

#include "plugins/http_service/client.hpp"

namespace muster::bridge {

// The result's document for status 200. The service's own error, {"error": {"class": ..., ...}},
// with any status; without one the status decides: 401 and 403 are `auth`, 429 is `throttle`,
// 404, 405 and 501 of an optional method are `unsupported`, other 4xx `invalid`, 5xx and redirects
// `transient`. Retry-After is the error's hold if it names none itself.
Result<std::string> result_of(const std::string& url, const std::string& method,
                              http_service::Answer answer);

}  // namespace muster::bridge
