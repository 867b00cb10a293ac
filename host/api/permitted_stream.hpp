// A stream that ends when its reader has lost the permission to read it.
#pragma once

#include <memory>

#include "host/endpoints/call.hpp"

namespace muster::api {

// Ends a second at most after a log-out, after the client was disabled, lost its secret or a scope
// that the endpoint needs, or after temporary credentials have expired. The endpoint's scopes have
// no parameters. The stream itself if nobody has to log in. Borrows the authority of the call's
// host.
std::shared_ptr<http::Stream> while_permitted(const endpoints::Call& call,
                                              std::shared_ptr<http::Stream> stream);

}  // namespace muster::api
