// The OpenAPI 3.1 document of the host's own API, as it is served.
#pragma once

namespace muster::api {

const char* openapi_text();

}  // namespace muster::api
