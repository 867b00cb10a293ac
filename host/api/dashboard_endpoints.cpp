// The files of the dashboard: a page that asks muster's own API, with the session of its reader.
#include <algorithm>
#include <stdexcept>

#include "host/api/dashboard.hpp"
#include "host/api/handlers.hpp"
#include "lib/http/gzip.hpp"
#include "lib/http/outgoing.hpp"

namespace muster::api {
namespace {

// The page runs its own script, talks to its own host and is shown in nobody else's frame.
constexpr const char* policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const WebFile& web_file_of(const Call& call) {
  const std::string_view name = std::string_view(call.endpoint().path).substr(1);
  const auto found = std::ranges::find(web_files(), name, &WebFile::name);
  if (found == web_files().end()) throw std::logic_error("no file " + std::string(name));
  return *found;
}

void serve_web_file(const CallPtr& call) {
  const WebFile& file = web_file_of(*call);
  http::Response response{
      200,
      {{"Content-Type", std::string(file.content_type)},
       {"Content-Security-Policy", policy},
       {"Referrer-Policy", "no-referrer"},
       {"X-Frame-Options", "DENY"},
       {"Cross-Origin-Opener-Policy", "same-origin"},
       {"Cache-Control", file.unchanging ? "public, max-age=31536000, immutable" : "no-cache"}},
      {}};
  const auto accepted = call->request().header("Accept-Encoding");
  if (accepted && http::accepts_gzip(*accepted)) {
    response.headers.push_back({"Vary", "Accept-Encoding"});
    response.headers.push_back({"Content-Encoding", "gzip"});
    response.body = file.gzip;
  } else {
    response.body = http::gunzip(file.gzip);
  }
  call->respond(std::move(response));
}

Endpoint web_row(const WebFile& file) {
  const auto [name, title] = [&]() -> std::pair<std::string_view, std::string_view> {
    if (file.name.empty()) return {"dashboard", "The dashboard"};
    if (file.name.ends_with(".js")) return {"dashboardScript", "Its script"};
    if (file.name.ends_with(".css")) return {"dashboardStyle", "Its style"};
    return {"dashboardIcon", "Its icon"};
  }();
  return {.name = name,
          .method = "GET",
          .path = "/" + std::string(file.name),
          .scopes = open_to_all("the files hold nothing of the fleet"),
          .handler = serve_web_file,
          .content_type = file.content_type,
          .category = "dashboard",
          .described = false,
          .title = title};
}

}  // namespace

std::vector<Endpoint> dashboard_endpoints() {
  std::vector<Endpoint> rows;
  for (const WebFile& file : web_files()) rows.push_back(web_row(file));
  return rows;
}

}  // namespace muster::api
