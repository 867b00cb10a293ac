#include "relay/sender.hpp"

#include "lib/http/client_address.hpp"

namespace muster::relay {

Result<Address> sender_of(const http::Request& request, const Networks& proxies) {
  const auto peer = address_of_peer(request.peer);
  if (!peer) return Error::auth("the address of the connection cannot be used");
  const auto client = http::client_address(*peer, request.headers, proxies);
  if (!client.problem.empty()) return Error::auth(std::string(client.problem));
  return client.address;
}

}  // namespace muster::relay
