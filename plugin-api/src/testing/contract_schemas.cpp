// The JSON Schemas of a description: the host checks an operator's files against them, so a schema
// that is wrong or does not fit the plugin wastes somebody's evening.
#include <muster/json_schema.hpp>

#include "findings.hpp"

namespace muster::testing {
namespace {

json::value member(const json::object& object, const char* key) {
  const json::value* found = object.if_contains(key);
  return found ? *found : json::value(json::object());
}

}  // namespace

void check_schema(Findings& findings, const json::object& description, const char* schema_key,
                  const char* example_key) {
  const auto schema = json::Schema::compile(member(description, schema_key));
  findings.promise("describe", std::string(schema_key) + " is a JSON Schema of an object",
                   [&]() -> Finding {
                     if (!schema) return broken(schema.error().message);
                     if (schema->validate("a text").empty())
                       return broken("it accepts a text; let it begin with \"type\": \"object\"");
                     return kept();
                   });
  findings.promise("describe", std::string(example_key) + " fits " + schema_key, [&]() -> Finding {
    if (!schema) return unchecked("there is no schema to check it with");
    const auto violations = schema->validate(member(description, example_key));
    if (!violations.empty()) return broken(json::to_string(violations.front()));
    return kept();
  });
}

std::vector<std::pair<std::string, json::object>> wrong_copies(const json::object& example,
                                                               const json::value& schema_text) {
  std::vector<std::pair<std::string, json::object>> copies;
  const auto schema = json::Schema::compile(schema_text);
  if (!schema) return copies;  // check_schema said so
  for (const auto& [name, good] : example)
    for (const json::value& wrong :
         {json::value(json::object{{"wrong", true}}), json::value("wrong"), json::value(7.25),
          json::value(json::array{json::object{}}), json::value(true)}) {
      if (wrong.kind() == good.kind() || (wrong.is_number() && good.is_number())) continue;
      json::object copy = example;
      copy[name] = wrong;
      if (!schema->validate(copy).empty()) copies.emplace_back(std::string(name), std::move(copy));
    }
  return copies;
}

}  // namespace muster::testing
