// The table of endpoints, held against the router that was filled from it.
#include <set>

#include <gtest/gtest.h>

#include "tests/unit/host/api/fixture.hpp"

namespace muster::api {
namespace {

using endpoints::Endpoint;
using endpoints::Scopes;

TEST(Table, names_each_endpoint_once) {
  std::set<std::string_view> names;
  for (const Endpoint& row : endpoints()) EXPECT_TRUE(names.insert(row.name).second) << row.name;
}

TEST(Table, has_every_route_of_the_router) {
  Fixture host;
  std::set<std::string> rows, routes;
  for (const Endpoint& row : endpoints())
    if (row.category != "events")  // there are none without their service
      rows.insert(std::string(row.method) + " " + row.path);
  for (std::size_t route = 0; route < host.router->size(); ++route)
    routes.insert(host.router->method(route) + " " + host.router->pattern(route));
  EXPECT_EQ(rows, routes);
}

TEST(Table, says_why_a_row_is_open) {
  for (const Endpoint& row : endpoints()) {
    const bool open = row.scopes.list().empty();
    EXPECT_EQ(open, !row.scopes.reason().empty()) << row.name;
  }
}

TEST(Table, opens_only_what_tells_nothing_of_the_fleet) {
  std::set<std::string_view> open;
  for (const Endpoint& row : endpoints())
    if (row.scopes.kind() == Scopes::Kind::open) open.insert(row.name);
  EXPECT_EQ(open,
            (std::set<std::string_view>{
                "dashboard", "dashboardStyle", "dashboardScript", "dashboardIcon", "health",
                "readiness", "listOperations", "listOperationsWithoutSlash", "openapi",
                "currentScopes", "authenticateHawk", "makeRegistrationChallenge", "openSession"}));
}

TEST(Table, gives_the_guard_a_scope_for_each_row_that_is_not_open) {
  std::size_t guarded = 0;
  for (const auth::RouteScope& route : route_scopes()) guarded += route.scope.empty() ? 0 : 1;
  EXPECT_EQ(route_scopes().size(), endpoints().size());
  std::size_t wanted = 0;
  for (const Endpoint& row : endpoints())
    for (const std::string_view scope : row.scopes.list())
      wanted += row.knows_from_path(scope) ? 1 : 0;
  EXPECT_EQ(guarded, wanted);
}

}  // namespace
}  // namespace muster::api
