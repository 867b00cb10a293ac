// Whose request it is: the address that the kernel knows, and a header only if it was written by a
// proxy that the operator has named. Pure.
#pragma once

#include <muster/error.hpp>

#include "lib/base/networks.hpp"
#include "lib/http/message.hpp"

namespace muster::relay {

// With no proxies, or from a peer that is none of them, the peer's own address, whatever its
// headers say. From a proxy, the last address of all its X-Forwarded-For headers together that is
// no proxy's: everything before that was written by somebody who may lie. Fails as `auth` if the
// proxy does not say for whom it asks, or not understandably: a machine must never be taken for the
// proxy in front of it.
Result<Address> sender_of(const http::Request& request, const Networks& proxies);

}  // namespace muster::relay
