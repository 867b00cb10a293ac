// The served OpenAPI document: its form, and that it says what the routes are.
#include "host/api/openapi.hpp"

#include <set>

#include <gtest/gtest.h>

#include "tests/unit/host/api/fixture.hpp"

namespace muster::api {
namespace {

using endpoints::Endpoint;

json::object served() {
  Fixture host;
  const Reply reply = host.ask("GET", "openapi.json", "", "");
  EXPECT_EQ(reply.status, 200);
  return reply.body.as_object();
}

// What a reference points to; null if there is nothing.
const json::value* target_of(const json::object& document, std::string_view reference) {
  const json::value* at = nullptr;
  const json::object* inside = &document;
  if (!reference.starts_with("#/")) return nullptr;
  for (reference.remove_prefix(2); !reference.empty();) {
    const auto slash = std::min(reference.find('/'), reference.size());
    at = inside ? inside->if_contains(reference.substr(0, slash)) : nullptr;
    inside = at ? at->if_object() : nullptr;
    reference.remove_prefix(std::min(slash + 1, reference.size()));
  }
  return at;
}

void collect_references(const json::value& value, std::set<std::string>& all) {
  if (const auto* list = value.if_array())
    for (const json::value& item : *list) collect_references(item, all);
  if (const auto* object = value.if_object())
    for (const auto& [key, member] : *object) {
      if (key == "$ref") all.insert(std::string(member.as_string()));
      collect_references(member, all);
    }
}

TEST(OpenApi, has_the_form_of_version_3_1) {
  const json::object document = served();
  EXPECT_EQ(document.at("openapi"), "3.1.0");
  EXPECT_TRUE(document.at("info").as_object().contains("title"));
  EXPECT_TRUE(document.at("info").as_object().contains("version"));
  std::set<std::string> tags, operations;
  for (const json::value& tag : document.at("tags").as_array())
    tags.insert(std::string(tag.at("name").as_string()));
  for (const auto& [path, methods] : document.at("paths").as_object()) {
    EXPECT_TRUE(path.starts_with("/")) << path;
    for (const auto& [method, operation] : methods.as_object()) {
      EXPECT_TRUE(std::set<std::string>({"get", "put", "post", "delete"}).contains(method));
      const std::string id(operation.at("operationId").as_string());
      EXPECT_TRUE(operations.insert(id).second) << id;
      EXPECT_TRUE(tags.contains(std::string(operation.at("tags").at(0).as_string()))) << id;
      EXPECT_FALSE(operation.at("summary").as_string().empty()) << id;
      for (const auto& [status, response] : operation.at("responses").as_object()) {
        EXPECT_EQ(status.size(), 3u) << id;
        EXPECT_TRUE(response.as_object().contains("$ref") ||
                    response.as_object().contains("description"))
            << id;
      }
    }
  }
}

TEST(OpenApi, refers_only_to_what_is_there_and_uses_all_of_it) {
  const json::object document = served();
  std::set<std::string> references;
  collect_references(document, references);
  for (const std::string& reference : references)
    EXPECT_TRUE(target_of(document, reference)) << reference;
  for (const char* kind : {"schemas", "parameters", "responses"})
    for (const auto& [name, component] : document.at("components").at(kind).as_object())
      EXPECT_TRUE(
          references.contains("#/components/" + std::string(kind) + "/" + std::string(name)))
          << name << " is used nowhere";
}

TEST(OpenApi, schemas_are_schemas) {
  const json::object document = served();
  for (const auto& [name, schema] : document.at("components").at("schemas").as_object()) {
    const json::object root{{"$ref", "#/components/schemas/" + std::string(name)},
                            {"components", document.at("components")}};
    const auto compiled = json::Schema::compile(root);
    EXPECT_TRUE(compiled) << name << ": " << compiled.error().message;
  }
}

// Parameters of the path as its pattern has them, those of the query as the row has them.
TEST(OpenApi, describes_each_parameter_of_a_row_as_it_is) {
  const json::object document = served();
  const json::object& parameters = document.at("components").at("parameters").as_object();
  for (const Endpoint& row : endpoints()) {
    if (!row.described) continue;
    for (const std::string& name : parameters_of(row)) {
      ASSERT_TRUE(parameters.contains(name)) << row.name << " " << name;
      EXPECT_EQ(parameters.at(name).at("in"), "path") << name;
      EXPECT_EQ(parameters.at(name).at("name"), json::value(name));
    }
    for (const endpoints::QueryParameter& parameter : row.query) {
      const std::string_view file =
          parameter.description.empty() ? parameter.name : parameter.description;
      ASSERT_TRUE(parameters.contains(file)) << row.name << " " << file;
      const json::object& described = parameters.at(file).as_object();
      EXPECT_EQ(described.at("name"), json::value(parameter.name)) << file;
      EXPECT_EQ(described.at("in"), parameter.header ? "header" : "query") << file;
      const json::value* type = described.at("schema").as_object().if_contains("type");
      EXPECT_EQ(parameter.repeated, type && *type == "array") << file;
    }
  }
}

TEST(OpenApi, has_each_route_of_the_api_with_its_scope) {
  Fixture host;
  const json::object document = served();
  const json::object& paths = document.at("paths").as_object();
  const std::string base = "/api/muster/v1/";
  for (std::size_t route = 0; route < host.router->size(); ++route) {
    std::string path = host.router->pattern(route);
    if (!path.starts_with(base)) continue;
    if (const auto star = path.find("{*"); star != std::string::npos) path.erase(star + 1, 1);
    path = path.substr(base.size() - 1);
    std::string method = host.router->method(route);
    for (char& c : method) c = static_cast<char>(c - 'A' + 'a');
    ASSERT_TRUE(paths.contains(path)) << path;
    ASSERT_TRUE(paths.at(path).as_object().contains(method)) << method << " " << path;
    const json::value& operation = paths.at(path).at(method);
    std::string scope;
    for (const auth::RouteScope& known : route_scopes())
      if (known.method == host.router->method(route) && known.route == host.router->pattern(route))
        scope = known.scope;
    const json::array& shown = operation.at("x-scopes").as_array();
    if (!scope.empty()) {
      EXPECT_EQ(std::string(shown.at(0).as_string()), scope) << path;
    }
    const json::value* security = operation.as_object().if_contains("security");
    const bool open = security && security->as_array().empty();
    EXPECT_EQ(open, host.router->access(route) == http::Access::open) << path;
  }
}

TEST(OpenApi, lists_the_same_operations_in_short) {
  Fixture host;
  const json::value listed = host.ask("GET", "/api/muster/v1", "", "").body;
  std::size_t described = 0;
  for (const Endpoint& row : endpoints()) described += row.described ? 1 : 0;
  EXPECT_EQ(listed.at("operations").as_array().size(), described);
}

}  // namespace
}  // namespace muster::api
