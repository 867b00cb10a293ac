// Whose request it is: the address that the kernel knows, and a header only if a proxy wrote it
// that the operator trusts. Pure. Limits, lock-out, registration and logs all use this one answer.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "lib/base/networks.hpp"
#include "lib/http/message.hpp"

namespace muster::http {

struct ClientAddress {
  Address address{};
  bool forwarded = false;  // the connection comes from a trusted proxy
  // Why what the proxies say cannot be used. Then `address` is that of the last trusted one.
  std::string_view problem = {};
};

// Without proxies, or from a peer that is none of them, the peer's own address, whatever the
// headers say. From a proxy, the last address of all X-Forwarded-For headers together that is no
// proxy's: everything before it was written by somebody who may lie.
ClientAddress client_address(const Address& peer, const std::vector<Header>& headers,
                             const Networks& proxies);

}  // namespace muster::http
