#include "host/api/dashboard.hpp"

namespace muster::dashboard {
namespace {

// The page runs its own script, talks to its own host and is shown in nobody else's frame.
constexpr const char* policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

void add(http::Router& router, const char* path, const char* type, const char* text) {
  router.add("GET", path, http::now([type, text](const http::Request&) {
               return http::Response{200,
                                     {{"Content-Type", type},
                                      {"Content-Security-Policy", policy},
                                      {"Referrer-Policy", "no-referrer"},
                                      {"Cache-Control", "no-cache"}},
                                     text};
             }),
             http::Access::open);
}

}  // namespace

void add_routes(http::Router& router) {
  add(router, "/", "text/html; charset=utf-8", page);
  add(router, "/dashboard.css", "text/css; charset=utf-8", style);
  add(router, "/dashboard.js", "text/javascript; charset=utf-8", script);
}

}  // namespace muster::dashboard
