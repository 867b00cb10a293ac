#include "host/api/openapi.hpp"

#include <stdexcept>

#include "host/api/handlers.hpp"
#include "host/endpoints/embedded.hpp"

namespace muster::api {

std::span<const endpoints::EmbeddedFile> embedded_schemas();  // made by CMake

namespace {

using endpoints::Scopes;

constexpr std::string_view parameters_folder = "parameters/", frame = "openapi/document";

json::object parsed(const endpoints::EmbeddedFile& file) {
  auto document = json::parse_object(file.text);
  if (!document) throw std::logic_error(std::string(file.name) + ": " + document.error().message);
  return std::move(*document);
}

json::object reference(std::string_view kind, std::string_view name) {
  return {{"$ref", "#/components/" + std::string(kind) + "/" + std::string(name)}};
}

json::object schemas() {
  json::object all;
  for (const endpoints::EmbeddedFile& file : embedded_schemas())
    if (std::string_view(file.name).find('/') == std::string_view::npos)
      all[file.name] = parsed(file);
  return all;
}

// -------------------------------------------------------------------------------------------------
// One operation

// "/pools/{workerPoolId}", below the server's address.
std::string public_path(const Endpoint& endpoint) {
  std::string path = endpoint.path.substr(base.size());
  if (const auto star = path.find("{*"); star != std::string::npos) path.erase(star + 1, 1);
  return path.empty() ? "/" : path;
}

std::string small(std::string_view method) {
  std::string text(method);
  for (char& c : text) c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// The caller has all of them.
json::array needed_scopes(const Endpoint& endpoint) {
  json::array scopes;
  for (const std::string_view scope : endpoint.scopes.list()) scopes.emplace_back(scope);
  return scopes;
}

json::array parameters(const Endpoint& endpoint) {
  json::array all;
  for (const std::string& name : parameters_of(endpoint))
    all.push_back(reference("parameters", name));
  for (const QueryParameter& parameter : endpoint.query)
    all.push_back(reference(
        "parameters", parameter.description.empty() ? parameter.name : parameter.description));
  return all;
}

json::object json_content(std::string_view schema) {
  return {{"application/json", json::object{{"schema", reference("schemas", schema)}}}};
}

// Bytes that are no JSON.
json::object other_content(std::string_view type) {
  return {{type,
           json::object{{"schema", json::object{{"type", "string"}, {"contentMediaType", type}}}}}};
}

json::object responses(const Endpoint& endpoint) {
  json::object good{{"description", "As asked"}};
  if (!endpoint.output.empty()) good["content"] = json_content(endpoint.output);
  if (endpoint.output.empty() && endpoint.category == "documentation")
    good["content"] = other_content(endpoint.content_type);
  if (endpoint.name == "events")
    good["content"].as_object()["text/event-stream"] =
        json::object{{"schema", json::object{{"type", "string"},
                                             {"description", "each event's data is an Event"}}}};
  std::map<int, std::string_view> codes;
  for (const std::string_view code : endpoint.errors) codes[endpoints::status_of(code)] = code;
  const Scopes::Kind kind = endpoint.scopes.kind();
  if (kind != Scopes::Kind::open) codes[401] = "AuthenticationFailed";
  if (!endpoint.scopes.list().empty()) codes[403] = "InsufficientScopes";
  if (kind != Scopes::Kind::open) codes[429] = "TooManyRequests";
  json::object all{{std::to_string(endpoint.status), std::move(good)}};
  for (const auto& [status, code] : codes)
    all[std::to_string(status)] = reference("responses", code);
  return all;
}

json::object operation(const Endpoint& endpoint) {
  json::object document{{"operationId", endpoint.name},
                        {"tags", json::array{endpoint.category}},
                        {"summary", endpoint.title}};
  if (!endpoint.description.empty()) document["description"] = endpoint.description;
  if (auto all = parameters(endpoint); !all.empty()) document["parameters"] = std::move(all);
  if (!endpoint.input.empty())
    document["requestBody"] = json::object{{"required", endpoint.input_required},
                                           {"content", json_content(endpoint.input)}};
  if (!endpoint.input_type.empty())
    document["requestBody"] =
        json::object{{"required", true}, {"content", other_content(endpoint.input_type)}};
  document["responses"] = responses(endpoint);
  if (endpoint.scopes.kind() == Scopes::Kind::open) document["security"] = json::array{};
  if (endpoint.scopes.kind() == Scopes::Kind::any_caller)
    document["security"] = json::array{json::object{}, json::object{{"bearer", json::array{}}},
                                       json::object{{"hawk", json::array{}}}};
  document["x-scopes"] = needed_scopes(endpoint);
  return document;
}

}  // namespace

json::object openapi_document(std::span<const Endpoint> rows) {
  json::object document, parameters;
  for (const endpoints::EmbeddedFile& file : embedded_schemas()) {
    const std::string_view name = file.name;
    if (name == frame) document = parsed(file);
    if (name.starts_with(parameters_folder))
      parameters[name.substr(parameters_folder.size())] = parsed(file);
  }
  json::object paths;
  for (const Endpoint& endpoint : rows) {
    if (!endpoint.described) continue;
    json::value& path = paths[public_path(endpoint)];
    if (path.is_null()) path = json::object();
    path.as_object()[small(endpoint.method)] = operation(endpoint);
  }
  json::object components = document["components"].as_object();
  components["parameters"] = std::move(parameters);
  components["schemas"] = schemas();
  document.erase("components");
  document["paths"] = std::move(paths);
  document["components"] = std::move(components);
  return document;
}

std::map<std::string_view, json::Schema> compile_inputs(std::span<const Endpoint> rows) {
  json::object root{{"components", json::object{{"schemas", schemas()}}}};
  std::map<std::string_view, json::Schema> inputs;
  for (const Endpoint& row : rows) {
    if (row.input.empty() || inputs.contains(row.input)) continue;
    root["$ref"] = reference("schemas", row.input).at("$ref");
    auto compiled = json::Schema::compile(
        root, {}, {.draft = json::Draft::draft2020_12, .check_formats = false});
    if (!compiled) throw std::logic_error(std::string(row.input) + ": " + compiled.error().message);
    inputs.emplace(row.input, std::move(*compiled));
  }
  return inputs;
}

json::array list_operations(std::span<const Endpoint> rows) {
  json::array operations;
  for (const Endpoint& endpoint : rows) {
    if (!endpoint.described) continue;
    json::object operation{{"method", endpoint.method}, {"path", base + public_path(endpoint)}};
    const json::array scopes = needed_scopes(endpoint);
    if (!scopes.empty()) operation["scope"] = scopes.front();
    if (scopes.size() > 1) operation["scopes"] = scopes;
    operations.push_back(std::move(operation));
  }
  return operations;
}

}  // namespace muster::api
