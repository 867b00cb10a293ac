// Checks, before a route of the host's own API runs, who calls and whether the caller may.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "host/auth/authority.hpp"
#include "lib/http/message.hpp"

namespace muster::auth {

// `<name>` in the scope is replaced by the path's parameter of that name.
struct RouteScope {
  std::string_view method, route, scope;
};

// For http::Router. Routes that the table does not have want `muster:get` for reading, and
// `muster:admin` for everything else, so that a route without an entry is closed and not open.
// Borrows both. THREADS: any.
class Guard {
 public:
  Guard(const Authority& authority, std::span<const RouteScope> table)
      : authority_(authority), table_(table) {}

  // Says in the request who asks; or the 401, 403 or 429 that turns him away. Needs no body:
  // whether that is what was signed is asked later, by the request's verify_body.
  std::optional<http::Response> operator()(http::Request& request) const;
  std::string scope_of(const http::Request& request) const;

 private:
  http::Response refuse_unknown(const http::Request& request) const;

  const Authority& authority_;
  std::span<const RouteScope> table_;
};

// The answer that belongs to what authenticate() said.
http::Response unauthenticated(const http::Request& request, const Error& error);

}  // namespace muster::auth
