// Who asks, after it was proved.
#pragma once

#include <string>

#include <muster/context.hpp>

#include "host/scopes/scopes.hpp"

namespace muster::auth {

// 9999-12-31: what an answer says of credentials that do not expire.
inline constexpr Time never{std::chrono::milliseconds(253'402'300'799'999)};

struct Caller {
  std::string client_id;  // empty: no credentials were given
  ScopeSet scopes;        // expanded by the roles
  Time expires = never;
};

}  // namespace muster::auth
