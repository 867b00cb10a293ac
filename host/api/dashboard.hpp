// The dashboard: a page that asks the host's own API, with the token of whoever looks. The files
// are carried inside the program and hold nothing of the fleet, so they are open to everybody.
#pragma once

#include "lib/http/router.hpp"

namespace muster::dashboard {

extern const char* const page;    // web/index.html
extern const char* const style;   // web/dashboard.css
extern const char* const script;  // web/dashboard.js

// "/" and what the page needs.
void add_routes(http::Router& router);

}  // namespace muster::dashboard
