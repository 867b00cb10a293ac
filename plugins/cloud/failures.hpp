// Sentences and classes for requests that got no answer. Pure, thread-safe.
#pragma once

#include <muster/error.hpp>

#include "lib/http_client/failure.hpp"

namespace muster::cloud {

// Continues a sentence that names the server: "cannot be reached: it takes no connections". The
// same each time, so that the host can tell one trouble from another. `time_limit` and `size_limit`
// are what the server exceeded, in words: "2 s", "1024 bytes".
//
// No class is `internal`: what a server sends is no bug of a plugin, and several bugs in a row
// would quarantine it.
Error error_of(const http_client::Failure& failure, const std::string& time_limit,
               const std::string& size_limit);

// Whether the request cannot have had an effect: it never left this machine.
bool was_never_sent(const http_client::Failure& failure);

}  // namespace muster::cloud
