// Pieces of the JSON Schemas that plugins describe their configurations with.
#pragma once

#include <muster/json.hpp>

namespace muster {

inline json::object of_type(const char* type, const char* description) {
  return {{"type", type}, {"description", description}};
}

inline json::object text_schema(const char* description) {
  json::object schema = of_type("string", description);
  schema["minLength"] = 1;
  return schema;
}

// Other keys than these are refused.
inline json::object table_schema(const char* description, json::object properties,
                                 json::array needed = {}) {
  json::object schema = of_type("object", description);
  schema["additionalProperties"] = false;
  schema["required"] = std::move(needed);
  schema["properties"] = std::move(properties);
  return schema;
}

// Any keys, with values of one kind.
inline json::object map_schema(const char* description, json::object values) {
  json::object schema = of_type("object", description);
  schema["additionalProperties"] = std::move(values);
  return schema;
}

}  // namespace muster
