// The dashboard: a page that asks muster's own API with the token that its reader enters.
#include "host/api/dashboard.hpp"
#include "host/api/handlers.hpp"

namespace muster::api {
namespace {

// The page runs its own script, talks to its own host and is shown in nobody else's frame.
constexpr const char* policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

void show_file(const CallPtr& call, const char* text) {
  call->respond({200,
                 {{"Content-Type", std::string(call->endpoint().content_type)},
                  {"Content-Security-Policy", policy},
                  {"Referrer-Policy", "no-referrer"},
                  {"Cache-Control", "no-cache"}},
                 text});
}

void show_page(const CallPtr& call) {
  show_file(call, dashboard_page);
}

void show_style(const CallPtr& call) {
  show_file(call, dashboard_style);
}

void show_script(const CallPtr& call) {
  show_file(call, dashboard_script);
}

endpoints::Endpoint file(std::string_view name, std::string path, std::string_view content_type,
                         endpoints::AnswerByItself handler, std::string_view title) {
  return {.name = name,
          .method = "GET",
          .path = std::move(path),
          .scopes = open_to_all("the files hold nothing of the fleet"),
          .handler = handler,
          .content_type = content_type,
          .category = "dashboard",
          .described = false,
          .title = title};
}

}  // namespace

std::vector<Endpoint> dashboard_endpoints() {
  return {
      file("dashboard", "/", "text/html; charset=utf-8", show_page, "The dashboard"),
      file("dashboardStyle", "/dashboard.css", "text/css; charset=utf-8", show_style, "Its style"),
      file("dashboardScript", "/dashboard.js", "text/javascript; charset=utf-8", show_script,
           "Its script")};
}

}  // namespace muster::api
