#include "tests/unit/host/both_apis/example_requests.hpp"

#include <map>

#include <gtest/gtest.h>

#include "host/api/api.hpp"
#include "host/api/openapi.hpp"
#include "host/taskcluster_api/references.hpp"

namespace muster::testing {
namespace {

using endpoints::Endpoint;

// Values of parameters and of members of bodies, by their names.
const std::map<std::string, json::value, std::less<>>& examples() {
  static const std::map<std::string, json::value, std::less<>> all{
      {"workerPoolId", "p/w"},
      {"workerGroup", "g"},
      {"workerId", "w"},
      {"launchConfigId", "lc-1"},
      {"providerId", "cloud"},
      {"provisionerId", "p"},
      {"workerType", "w"},
      {"team", "a"},
      {"name", "hook"},
      {"clientId", "c/1"},
      {"pluginId", "provider/local"},
      {"instanceId", "1"},
      {"documentPath", "README.md"},
      {"requestId", "1"},
      {"number", "1"},
      {"configurationId", "build"},
      {"owner", "lab@example.com"},
      {"secret", json::value(std::string(44, 's'))},
      {"staticSecret", json::value(std::string(44, 's'))},
      {"kind", "x"},
      {"until", "2030-01-01T00:00:00.000Z"},
      {"expires", "2030-01-01T00:00:00.000Z"},
      {"at", "2030-01-01T00:00:00.000Z"},
      {"address", "192.0.2.9"},
      {"hostName", "m1.lab.example.com"},
      {"file", "/nonexistent/copy.db"},
      {"teams", json::array{"a"}},
      {"workerIdentityProof", json::object{{"token", "bad"}}},
      {"providerInfo", json::object{{"staticSecret", std::string(44, 's')}}}};
  return all;
}

std::string escaped(std::string_view text) {
  std::string all;
  for (const char c : text) all += c == '/' ? "%2F" : std::string(1, c);
  return all;
}

class Schemas {
 public:
  explicit Schemas(const taskcluster_api::Fixture& host)
      : own_(json::value(api::openapi_document(api::endpoints()))) {
    for (const auto& [path, text] : taskcluster_api::served_documents(host.schemas()))
      if (auto parsed = json::parse(text)) theirs_[path] = std::move(*parsed);
  }

  json::value body_of(const Endpoint& row, bool own) const {
    if (own) return made_from(own_.at("components").at("schemas").at(row.input));
    return made_from(theirs_.at(file_of(row.input)));
  }

 private:
  static std::string file_of(std::string_view name) {
    return "/schemas/worker-manager/v1/" + std::string(name) + ".json";
  }

  const json::value& target_of(std::string_view reference) const {
    const auto hash = reference.find('#');
    const std::string_view file = reference.substr(0, hash);
    const json::value* at = &own_;
    if (!file.empty())
      at = &theirs_.at("/schemas/worker-manager/v1/" +
                       std::string(file.substr(file.rfind('/') + 1)));
    std::string_view path = reference.substr(hash + 1);
    while (path.size() > 1) {
      path.remove_prefix(1);
      const auto slash = std::min(path.find('/'), path.size());
      at = &at->as_object().at(path.substr(0, slash));
      path.remove_prefix(slash);
    }
    return *at;
  }

  json::value made_from(const json::value& schema) const {
    const json::object& document = schema.as_object();
    if (const json::value* reference = document.if_contains("$ref"))
      return made_from(target_of(std::string_view(reference->as_string())));
    if (const json::value* list = document.if_contains("enum")) return list->as_array().front();
    for (const char* choice : {"oneOf", "anyOf"})
      if (const json::value* list = document.if_contains(choice))
        return made_from(list->as_array().front());
    const json::value* type = document.if_contains("type");
    const std::string name = type && type->is_string() ? std::string(type->get_string()) : "object";
    if (name == "string") return "text";
    if (name == "integer" || name == "number") return 5;
    if (name == "boolean") return false;
    if (name == "array") return json::array();
    json::object made;
    if (const json::value* required = document.if_contains("required"))
      for (const json::value& member : required->as_array()) {
        const std::string key(member.as_string());
        const auto known = examples().find(key);
        made[key] = known != examples().end() ? known->second
                                              : made_from(document.at("properties").at(key));
      }
    return made;
  }

  json::value own_;
  std::map<std::string, json::value> theirs_;
};

// "<name>" or "{name}" replaced by what `value_of` says.
template <class ValueOf>
std::string filled(std::string_view text, char open, char close, ValueOf value_of) {
  std::string all;
  while (!text.empty()) {
    const auto begin = std::min(text.find(open), text.size());
    all += text.substr(0, begin);
    text.remove_prefix(begin);
    if (text.empty()) break;
    const auto end = text.find(close);
    std::string_view name = text.substr(1, end - 1);
    if (name.starts_with('*')) name.remove_prefix(1);
    all += value_of(name);
    text.remove_prefix(end + 1);
  }
  return all;
}

std::string example_of(std::string_view name) {
  const auto known = examples().find(name);
  if (known == examples().end() || !known->second.is_string()) {
    ADD_FAILURE() << "there is no example of the parameter " << name << "; add one";
    return "x";
  }
  return std::string(known->second.get_string());
}

void add_rows(std::vector<ExampleRequest>& all, std::span<const Endpoint> rows,
              const Schemas& schemas, bool own) {
  for (const Endpoint& row : rows) {
    ExampleRequest request;
    request.row = &row;
    request.path =
        filled(row.path, '{', '}', [](std::string_view name) { return escaped(example_of(name)); });
    json::value body;
    if (!row.input.empty()) {
      body = schemas.body_of(row, own);
      request.body = json::write(body);
    }
    const std::vector<std::string> of_path = parameters_of(row);
    for (const std::string_view scope : row.scopes.list())
      request.scopes.push_back(filled(scope, '<', '>', [&](std::string_view name) -> std::string {
        const bool known = std::ranges::find(of_path, name) != of_path.end() ||
                           (body.is_object() && body.get_object().contains(name));
        return known ? example_of(name) : "*";
      }));
    all.push_back(std::move(request));
  }
}

}  // namespace

std::vector<ExampleRequest> example_requests(const taskcluster_api::Fixture& host) {
  const Schemas schemas(host);
  std::vector<ExampleRequest> all;
  add_rows(all, api::endpoints(), schemas, true);
  add_rows(all, taskcluster_api::endpoints(), schemas, false);
  return all;
}

}  // namespace muster::testing
