// Each row of both tables of endpoints, asked by callers that must not get in.
#include <set>

#include <gtest/gtest.h>

#include "host/api/api.hpp"
#include "tests/unit/host/both_apis/example_requests.hpp"

namespace muster::testing {
namespace {

using taskcluster_api::Fixture;
using taskcluster_api::Reply;

Reply ask(Fixture& host, const ExampleRequest& request, const std::string& token) {
  return host.send(std::string(request.row->method), request.path, {.token = token}, request.body,
                   request.body.empty() ? "" : "application/json");
}

bool is_refused(const Reply& reply) {
  return (reply.status == 401 && reply.code() == "AuthenticationFailed") ||
         (reply.status == 403 && reply.code() == "InsufficientScopes");
}

// What a worker of another pool gets when it registers.
std::vector<std::string> scopes_of_another_worker() {
  const std::string name = "o/pool/g/x";
  return {"assume:worker-type:o/pool",
          "assume:worker-pool:o/pool",
          "assume:worker-id:g/x",
          "worker-manager:remove-worker:" + name,
          "worker-manager:reregister-worker:" + name,
          "worker-manager:should-worker-terminate:" + name};
}

TEST(AuthorizationMatrix, has_each_row_of_both_tables_as_a_route) {
  Fixture host;
  std::set<std::string> routes;
  for (std::size_t route = 0; route < host.router->size(); ++route)
    routes.insert(host.router->method(route) + " " + host.router->pattern(route));
  std::size_t rows = 0;
  for (const ExampleRequest& request : example_requests(host)) {
    ++rows;
    EXPECT_TRUE(routes.contains(std::string(request.row->method) + " " + request.row->path))
        << request.row->name << " is in a table and not in the router of this test";
  }
  EXPECT_EQ(rows, api::endpoints().size() + taskcluster_api::endpoints().size());
}

TEST(AuthorizationMatrix, lets_nobody_in_without_the_scopes_of_the_row) {
  Fixture host;
  const std::vector<std::pair<std::string, std::string>> strangers{
      {"nobody", ""},
      {"a client without scopes", host.client({})},
      {"a client with another scope", host.client({"muster:get:nothing", "queue:*"})},
      {"a worker of another pool", host.client(scopes_of_another_worker())},
      {"a relay of another provider", host.client({"muster:relay:rack"})}};
  std::size_t asked = 0;
  for (const ExampleRequest& request : example_requests(host)) {
    if (request.scopes.empty()) continue;  // open: the tests of the tables name each of them
    for (const auto& [who, token] : strangers) {
      const Reply reply = ask(host, request, token);
      EXPECT_TRUE(is_refused(reply)) << request.row->name << " " << request.path << " by " << who
                                     << ": " << reply.status << " " << reply.text;
      ++asked;
    }
  }
  EXPECT_GT(asked, 5 * 80u);
}

TEST(AuthorizationMatrix, one_of_several_scopes_is_not_enough) {
  Fixture host;
  for (const ExampleRequest& request : example_requests(host)) {
    if (request.scopes.size() < 2) continue;
    for (const std::string& scope : request.scopes)
      EXPECT_TRUE(is_refused(ask(host, request, host.client({scope}))))
          << request.row->name << " with " << scope << " alone";
  }
}

TEST(AuthorizationMatrix, the_scopes_of_the_row_are_enough) {
  Fixture host;
  for (const ExampleRequest& request : example_requests(host)) {
    const Reply reply = ask(host, request, host.client(request.scopes));
    EXPECT_FALSE(is_refused(reply))
        << request.row->name << ": " << reply.status << " " << reply.text;
  }
}

// A scope for one provider, pool or worker says nothing of another.
TEST(AuthorizationMatrix, a_scope_for_something_else_of_the_kind_is_not_enough) {
  Fixture host;
  for (const ExampleRequest& request : example_requests(host))
    for (std::size_t i = 0; i < request.scopes.size(); ++i) {
      if (request.row->scopes.list()[i].find('<') == std::string_view::npos) continue;
      std::vector<std::string> scopes = request.scopes;
      scopes[i].back() = scopes[i].back() == 'z' ? 'y' : 'z';
      EXPECT_TRUE(is_refused(ask(host, request, host.client(scopes))))
          << request.row->name << " with " << scopes[i];
    }
}

// A body that names a provider for a pool needs the scope of that provider.
TEST(AuthorizationMatrix, each_row_whose_body_names_a_provider_has_a_scope_of_it) {
  Fixture host;
  std::set<std::string_view> with_provider;
  for (const ExampleRequest& request : example_requests(host)) {
    const auto body = json::parse(request.body);
    if (!body || !body->is_object() || !body->get_object().contains("providerId")) continue;
    with_provider.insert(request.row->name);
    if (request.row->scopes.list().empty()) {
      EXPECT_FALSE(request.row->scopes.reason().empty()) << request.row->name;
      continue;
    }
    bool named = false;
    for (const std::string_view scope : request.row->scopes.list())
      named |= scope.find("<providerId>") != std::string_view::npos;
    EXPECT_TRUE(named) << request.row->name;
  }
  EXPECT_TRUE(with_provider.contains("putPool"));
  EXPECT_TRUE(with_provider.contains("createWorkerPool"));
}

}  // namespace
}  // namespace muster::testing
