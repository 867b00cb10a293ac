// The API's description as one table. The routes, the checks before a handler runs and the served
// reference all come from it, so that they cannot tell different stories.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/taskcluster_api/pattern.hpp"

namespace muster::taskcluster_api {

inline constexpr std::string_view base_path = "/api/worker-manager/v1";

// What an error's body shows of the request's own.
enum class Payload { shown, omitted, secret_masked };

struct QueryKey {
  std::string_view name;
  const Pattern* pattern;
};

struct Endpoint {
  std::string_view name;
  std::string_view method;  // "GET"
  std::string_view route;   // "/worker-pool/<workerPoolId>"; <*name> also takes slashes
  // All of these must be held; <name> stands for a parameter of the route, or for a value that only
  // the handler knows. None: open to everybody.
  std::vector<std::string_view> scopes = {};
  std::vector<QueryKey> query = {};
  std::string_view input = {};  // of the schema, "create-worker-request"; empty: none
  std::string_view output = {};
  std::string_view category = {};
  bool stable = true;
  std::string_view title = {};
  std::string_view description = {};
  Payload payload = Payload::shown;
  bool colon_alias = false;  // old clients write a colon behind the worker pool

  // Whether a scope names what only the body or the query says.
  bool authorizes_itself() const;
};

// In the order in which routes are tried.
std::span<const Endpoint> endpoints();

// A bug of the caller if there is none.
const Endpoint& endpoint(std::string_view name);

// The names of a route's parameters, in their order.
std::vector<std::string> parameters_of(const Endpoint& endpoint);

// nullptr: a parameter of that name may be anything.
const Pattern* pattern_of_parameter(std::string_view name);

// "/worker-pool/{*workerPoolId}", as http::Router writes it.
std::string router_pattern(const Endpoint& endpoint);

// "/worker-pool/<workerPoolId>", as clients know it.
std::string public_route(const Endpoint& endpoint);

}  // namespace muster::taskcluster_api
