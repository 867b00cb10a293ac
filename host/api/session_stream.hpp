// A stream that ends with the session of the browser that reads it.
#pragma once

#include <memory>

#include "host/endpoints/call.hpp"

namespace muster::api {

// The stream itself if the caller came without a session. Borrows the authority of the call's host.
std::shared_ptr<http::Stream> while_session_lasts(const endpoints::Call& call,
                                                  std::shared_ptr<http::Stream> stream);

}  // namespace muster::api
