// Before a client loses its access: would anybody be left who could give it back?
#pragma once

#include <string>
#include <vector>

#include "cli/connection.hpp"

namespace muster::cli {

// `client` keeps only these scopes (none: it is disabled or removed). Asks first if it is the
// caller itself and would no longer be able to manage clients, or if no other client could. Ends
// the program if the answer is no; without a terminal, unless `yes`.
void confirm_lockout(HostClient& host, const std::string& client,
                     const std::vector<std::string>& scopes_left, bool yes);

// Whether scopes allow to manage all clients. Pure.
bool may_manage_clients(const std::vector<std::string>& scopes);

}  // namespace muster::cli
