// What describes the API to programs.
#include "host/taskcluster_api/references.hpp"

#include <fstream>
#include <iterator>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.hpp"

namespace muster::taskcluster_api {
namespace {

// The names that the published clients have, and those of RFC 191.
const std::set<std::string> names_of_clients{"ping",
                                             "lbheartbeat",
                                             "version",
                                             "heartbeat",
                                             "listProviders",
                                             "createWorkerPool",
                                             "updateWorkerPool",
                                             "deleteWorkerPool",
                                             "listWorkerPoolLaunchConfigs",
                                             "workerPoolStats",
                                             "workerPool",
                                             "listWorkerPools",
                                             "listWorkerPoolsStats",
                                             "reportWorkerError",
                                             "workerPoolErrorStats",
                                             "listWorkerPoolErrors",
                                             "listWorkersForWorkerGroup",
                                             "worker",
                                             "createWorker",
                                             "updateWorker",
                                             "removeWorker",
                                             "shouldWorkerTerminate",
                                             "listWorkersForWorkerPool",
                                             "registerWorker",
                                             "reregisterWorker",
                                             "listWorkers",
                                             "getWorker",
                                             "getLaunchConfig",
                                             "pauseLaunchConfig",
                                             "resumeLaunchConfig"};

TEST(References, name_every_endpoint_once) {
  std::set<std::string> names;
  for (const Endpoint& endpoint : endpoints())
    EXPECT_TRUE(names.insert(std::string(endpoint.name)).second) << endpoint.name;
  EXPECT_EQ(names, names_of_clients);
}

TEST(References, only_five_endpoints_authorize_by_what_is_in_the_request) {
  std::set<std::string> names;
  for (const Endpoint& endpoint : endpoints())
    if (endpoint.authorizes_by_request()) names.insert(std::string(endpoint.name));
  EXPECT_EQ(names,
            (std::set<std::string>{"createWorkerPool", "updateWorkerPool", "reportWorkerError",
                                   "reregisterWorker", "workerPoolErrorStats"}));
}

TEST(References, every_document_is_served_and_has_the_form_that_it_names) {
  Fixture fixture;
  json::SchemaRegistry registry;
  for (const auto& [path, document] : fixture.schemas().documents())
    registry[root_url + path] = document;
  const Reply manifest = fixture.send("GET", "/references/manifest.json", {.token = ""});
  ASSERT_EQ(manifest.status, 200);
  ASSERT_EQ(manifest.at("references").as_array().size(), 4u);
  for (const json::value& url : manifest.at("references").as_array()) {
    const std::string path(url.as_string().subview(std::string_view(root_url).size()));
    const Reply reply = fixture.send("GET", path, {.token = ""});
    ASSERT_EQ(reply.status, 200) << path;
    std::string schema(reply.at("$schema").as_string());
    ASSERT_TRUE(schema.starts_with(root_url)) << schema;
    schema.pop_back();  // the '#'
    const auto compiled =
        json::Schema::compile(registry.at(schema), registry, {.draft = json::Draft::draft6});
    ASSERT_TRUE(compiled) << compiled.error().message;
    for (const json::Violation& violation : compiled->validate(reply.body))
      ADD_FAILURE() << path << " " << to_string(violation);
  }
}

TEST(References, every_schema_is_served_under_its_id) {
  Fixture fixture;
  for (const auto& [path, document] : fixture.schemas().documents()) {
    const Reply reply = fixture.send("GET", path, {.token = ""});
    EXPECT_EQ(reply.status, 200) << path;
    EXPECT_EQ(reply.at("$id"), json::value(root_url + path + "#"));
    EXPECT_EQ(reply.header("content-type"), "application/json");
  }
}

TEST(References, the_table_names_schemas_that_are_there) {
  const Schemas schemas(root_url);
  for (const Endpoint& endpoint : endpoints())
    for (const std::string_view name : {endpoint.input, endpoint.output})
      if (!name.empty()) {
        EXPECT_TRUE(schemas.documents().contains("/schemas/worker-manager/v1/" + std::string(name) +
                                                 ".json"))
            << name;
      }
}

TEST(References, the_reference_says_what_the_routes_are) {
  Fixture fixture;
  const json::object reference = api_reference(fixture.schemas());
  for (const json::value& entry : reference.at("entries").as_array()) {
    const Endpoint& known = endpoint(std::string(entry.at("name").as_string()));
    EXPECT_EQ(std::string(entry.at("route").as_string()), public_route(known));
    // Whatever else is wrong with the request, somebody is there.
    std::string path(base_path);
    std::string route(entry.at("route").as_string());
    for (auto open = route.find('<'); open != std::string::npos; open = route.find('<'))
      route.replace(open, route.find('>') - open + 1, "x");
    const Reply reply =
        fixture.send(std::string(known.method), path + route, {.token = ""}, "", "");
    EXPECT_NE(reply.status, 404) << route;
    EXPECT_NE(reply.status, 405) << route;
    if (reply.status != 200) {
      EXPECT_EQ(reply.at("requestInfo").at("method"), entry.at("name"));
    }
  }
}

TEST(References, the_page_about_compatibility_names_every_endpoint) {
  std::ifstream in(MUSTER_SOURCE "/docs/taskcluster-compatibility.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  for (const Endpoint& endpoint : endpoints())
    EXPECT_NE(page.find("`" + std::string(endpoint.name) + "`"), std::string::npos)
        << endpoint.name;
}

}  // namespace
}  // namespace muster::taskcluster_api
