// What of a request its signature is about, behind proxies that are trusted. Private to this
// folder.
#pragma once

#include <optional>

#include "host/auth/authority.hpp"

namespace muster::auth {

// Fails as `auth` if the Host header is no host.
Result<Authority::SignedRequest> signed_request_of(const http::Request& request);

// What `?bewit=...` holds, and the resource without it.
struct Bewit {
  std::string id, expiry, mac, ext, resource;
};
bool has_bewit(std::string_view resource);
Result<Bewit> parse_bewit(std::string_view method, std::string_view resource);

}  // namespace muster::auth
