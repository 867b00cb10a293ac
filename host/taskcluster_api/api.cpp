#include "host/taskcluster_api/api.hpp"

#include <stdexcept>

#include "host/api/registration_paths.hpp"
#include "host/registration/registrar.hpp"
#include "host/taskcluster_api/handlers.hpp"
#include "host/taskcluster_api/references.hpp"

namespace muster::taskcluster_api {
namespace {

using HandlerOfCall = void (*)(const CallPtr&);

struct Named {
  std::string_view name;
  HandlerOfCall handler;
};

constexpr Named handlers[] = {
    {"ping", ping},
    {"lbheartbeat", heartbeat_of_load_balancers},
    {"version", version},
    {"heartbeat", heartbeat},
    {"listProviders", list_providers},
    {"createWorkerPool", create_worker_pool},
    {"updateWorkerPool", update_worker_pool},
    {"deleteWorkerPool", delete_worker_pool},
    {"workerPool", worker_pool},
    {"listWorkerPools", list_worker_pools},
    {"listWorkerPoolsStats", list_worker_pools_stats},
    {"workerPoolStats", worker_pool_stats},
    {"listWorkerPoolLaunchConfigs", list_worker_pool_launch_configs},
    {"getLaunchConfig", get_launch_config},
    {"pauseLaunchConfig", pause_launch_config},
    {"resumeLaunchConfig", resume_launch_config},
    {"listWorkersForWorkerPool", list_workers_for_worker_pool},
    {"listWorkersForWorkerGroup", list_workers_for_worker_group},
    {"worker", worker},
    {"listWorkers", list_workers},
    {"getWorker", get_worker},
    {"createWorker", create_worker},
    {"updateWorker", update_worker},
    {"removeWorker", remove_worker},
    {"shouldWorkerTerminate", should_worker_terminate},
    {"reportWorkerError", report_worker_error},
    {"listWorkerPoolErrors", list_worker_pool_errors},
    {"workerPoolErrorStats", worker_pool_error_stats},
    {"registerWorker", register_worker},
    {"reregisterWorker", reregister_worker},
};

HandlerOfCall handler_of(const Endpoint& endpoint) {
  for (const Named& named : handlers)
    if (named.name == endpoint.name) return named.handler;
  throw std::logic_error("no handler for " + std::string(endpoint.name));
}

void answer(const std::shared_ptr<const Api>& api, const Endpoint& endpoint, HandlerOfCall handler,
            http::Request&& request, const http::Reply& reply) {
  const bool registers = handler == register_worker;
  const std::string address = registers ? registration::address_of(request.peer) : "";
  const auto refusal = registers ? api->parts.registrar->check_peer(address) : std::nullopt;
  const auto call = std::make_shared<Call>(api, endpoint, std::move(request), reply);
  if (refusal) return call->fail(to_failure(*refusal));
  if (call->passes_checks())
    handler(call);
  else if (registers)
    api->parts.registrar->note_malformed_request(address);
}

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
  const auto api = std::make_shared<const Api>(Api{std::move(parts), std::move(schemas), started});
  for (const Endpoint& endpoint : endpoints())
    router.add(
        std::string(endpoint.method), router_pattern(endpoint),
        [api, &endpoint, handler = handler_of(endpoint)](http::Request&& request,
                                                         const http::Reply& reply) {
          answer(api, endpoint, handler, std::move(request), reply);
        },
        http::Access::open);
  router.fallback(std::string(base_path) + "/", http::now([](const http::Request&) {
                    return http::Response{.status = 404,
                                          .headers = {{"Content-Type", "application/json"}},
                                          .body = "{\n  \"error\": \"Not found\"\n}"};
                  }));
  add_documents(router, api->schemas);
  add_own_paths(router, api);
  return api;
}

}  // namespace muster::taskcluster_api
