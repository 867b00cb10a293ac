#include "host/taskcluster_api/api.hpp"

#include "host/taskcluster_api/call.hpp"
#include "host/taskcluster_api/endpoints.hpp"
#include "host/taskcluster_api/references.hpp"

namespace muster::taskcluster_api {
namespace {

void add_documents(http::Router& router, const Schemas& schemas) {
  for (auto& [path, text] : served_documents(schemas)) {
    const auto shared = std::make_shared<const std::string>(text);
    router.add("GET", path, http::now([shared](const http::Request&) {
                 return http::Response{.headers = {{"Content-Type", "application/json"},
                                                   {"Access-Control-Allow-Origin", "*"}},
                                       .body = *shared};
               }),
               http::Access::open);
  }
}

}  // namespace

std::shared_ptr<const Api> add_routes(http::Router& router, Parts parts) {
  while (parts.root_url.ends_with('/')) parts.root_url.pop_back();
  Schemas schemas(parts.root_url);
  const SteadyTime started = parts.clock->steady();
  const auto api = std::make_shared<const Api>(std::move(parts), std::move(schemas), started);
  endpoints::add_routes(router, api, endpoints());
  router.fallback(std::string(base_path) + "/", http::now([](const http::Request&) {
                    return http::Response{.status = 404,
                                          .headers = {{"Content-Type", "application/json"}},
                                          .body = "{\n  \"error\": \"Not found\"\n}"};
                  }));
  add_documents(router, api->schemas);
  return api;
}

}  // namespace muster::taskcluster_api
