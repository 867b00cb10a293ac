// The files of the dashboard, which the program carries inside.
#pragma once

namespace muster::api {

extern const char* const dashboard_page;    // web/index.html
extern const char* const dashboard_style;   // web/dashboard.css
extern const char* const dashboard_script;  // web/dashboard.js

}  // namespace muster::api
