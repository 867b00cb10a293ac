#include "tests/integration/api_description.hpp"

#include <cctype>
#include <stdexcept>

#include <muster/json_schema.hpp>

#include "tests/support/raw_client.hpp"

namespace muster::testing {
namespace {

std::string header_of(const std::string& head, const std::string& name) {
  std::string lower;
  for (const char c : head) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::size_t at = lower.find("\r\n" + name + ":");
  if (at == std::string::npos) return "";
  const std::size_t begin = head.find_first_not_of(' ', at + name.size() + 3);
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

// Objects have no members but those that are described: a name that is spelt otherwise is a
// mistake.
void make_strict(json::value& schema) {
  if (auto* list = schema.if_array())
    for (json::value& item : *list) make_strict(item);
  auto* object = schema.if_object();
  if (!object) return;
  for (auto& [key, value] : *object) make_strict(value);
  if (const auto* properties = object->if_contains("properties");
      properties && properties->is_object() && !object->contains("additionalProperties"))
    (*object)["additionalProperties"] = false;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

const json::value* member_at(const json::value& document, std::initializer_list<const char*> path) {
  const json::value* at = &document;
  for (const char* key : path) {
    const auto* object = at ? at->if_object() : nullptr;
    at = object ? object->if_contains(key) : nullptr;
  }
  return at;
}

std::string violations_of(const json::object& schema, const json::value& instance) {
  const auto compiled = json::Schema::compile(schema);
  if (!compiled) return "the schema is wrong: " + compiled.error().message;
  std::string text;
  for (const json::Violation& violation : compiled->validate(instance))
    text += json::to_string(violation) + "\n";
  return text;
}

}  // namespace

HttpAnswer ask(std::uint16_t port, const std::string& method, const std::string& path,
               const std::string& token, const std::string& body) {
  RawClient client(port);
  client.send(method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n" +
              "Accept: application/json\r\n" +
              (token.empty() ? "" : "Authorization: Bearer " + token + "\r\n") +
              (body.empty() ? "" : "Content-Type: application/json\r\n") +
              "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  const std::string all = client.read_all();
  const std::size_t end = all.find("\r\n\r\n");
  if (all.size() < 12 || end == std::string::npos) throw std::runtime_error("no answer: " + all);
  const std::string head = all.substr(0, end + 2);
  return {std::stoi(all.substr(9, 3)), header_of(head, "content-type"), all.substr(end + 4)};
}

ApiDescription::ApiDescription(std::uint16_t port) {
  const HttpAnswer served = ask(port, "GET", "/api/muster/v1/openapi.json");
  auto document = json::parse_object(replaced(served.body, "#/components/schemas/", "#/$defs/"));
  if (!document) throw std::runtime_error(document.error().message);
  document_ = std::move(*document);
  if (document_.at("openapi").as_string() != "3.1.0") throw std::runtime_error("not OpenAPI 3.1");
  json::value strict = document_;
  make_strict(strict);
  document_ = strict.as_object();
  for (const auto& [path, methods] : document_.at("paths").as_object())
    for (const auto& [method, described] : methods.as_object()) {
      Operation operation;
      operation.id = described.at("operationId").as_string();
      for (const char c : method)
        operation.method += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      operation.path = path;
      for (const json::value& scope : described.at("x-scopes").as_array())
        operation.scopes.emplace_back(scope.as_string());
      operation.responses = described.at("responses").as_object();
      operations_.push_back(std::move(operation));
    }
}

const Operation& ApiDescription::find(const std::string& id) const {
  for (const Operation& operation : operations_)
    if (operation.id == id) return operation;
  throw std::runtime_error("the document has no operation " + id);
}

namespace {

// The schema of the answer with that status; null if there is none, or if it has no body.
const json::value* schema_of(const json::object& document, const Operation& operation,
                             const std::string& status, bool& described) {
  const json::value* response = operation.responses.if_contains(status);
  described = response != nullptr;
  if (!response) return nullptr;
  if (const json::value* reference = member_at(*response, {"$ref"})) {
    const std::string name(reference->as_string());
    response = document.at("components")
                   .at("responses")
                   .as_object()
                   .if_contains(name.substr(name.rfind('/') + 1));
    described = response != nullptr;
  }
  return response ? member_at(*response, {"content", "application/json", "schema"}) : nullptr;
}

json::object whole_schema(const json::object& document, const json::value& schema) {
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"$defs", document.at("components").at("schemas")},
          {"allOf", json::array{schema}}};
}

}  // namespace

std::string ApiDescription::complaints(const Operation& operation, const HttpAnswer& answer) const {
  bool described = false;
  const json::value* schema =
      schema_of(document_, operation, std::to_string(answer.status), described);
  if (!described)
    return "the status " + std::to_string(answer.status) + " is not described: " + answer.body;
  if (!schema) return answer.body.empty() ? "" : "there should be no body: " + answer.body;
  if (!answer.content_type.starts_with("application/json"))
    return "the content type is " + answer.content_type;
  const auto body = json::parse(answer.body);
  if (!body) return "the body is no JSON: " + body.error().message;
  return violations_of(whole_schema(document_, *schema), *body);
}

std::string ApiDescription::unnoticed_mistakes(const Operation& operation,
                                               const HttpAnswer& answer) const {
  const auto body = json::parse(answer.body);
  if (!body || !body->is_object()) return "";
  std::string unnoticed;
  const auto expect_noticed = [&](const json::object& wrong, const std::string& what) {
    if (complaints(operation, {answer.status, answer.content_type, json::write(wrong)}).empty())
      unnoticed += operation.id + ": " + what + "\n";
  };
  json::object more = body->get_object();
  more["somethingElse"] = 1;
  expect_noticed(more, "a member that is not described");
  for (const auto& [key, value] : body->get_object()) {
    json::object other = body->get_object();
    other[key] = value.is_array() ? json::value("no list") : json::value(json::array{1});
    expect_noticed(other, "another kind of " + std::string(key));
  }
  return unnoticed;
}

}  // namespace muster::testing
