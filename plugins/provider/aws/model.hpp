// AWS's own model of its APIs, cut to the calls that the provider makes (model.json).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <muster/error.hpp>
#include <muster/json.hpp>

namespace muster::aws {

// A shape is an object of the model:
//   {"type": "structure", "members": {"ImageId": {...}, ...}, "required": ["MaxCount", ...]}
//   {"type": "list", "member": {...}, "flattened": true}
//   {"type": "map", "key": {...}, "value": {...}}
//   {"type": "string", "enum": ["a", "b"], "sensitive": true}   no type: a string
//   {"type": "integer" | "long" | "float" | "double" | "boolean" | "timestamp" | "blob"}
//   {"shape": "S1a"}   the shape of that name in `shapes`, with what else is said here
// Names on the wire are `locationName` and `queryName`. An enum is what AWS knew when the model was
// cut; those that grow all the time (instance types) are left out.
using Shape = json::object;

struct Service {
  std::string name;             // "ec2"
  std::string protocol;         // "ec2", "query", "json"
  std::string version;          // "2016-11-15"
  std::string endpoint_prefix;  // "ec2"
  std::string target_prefix = {}, json_version = {};  // of the protocol "json"
  const json::object* operations = nullptr;
  const json::object* shapes = nullptr;

  // Follows {"shape": ...}.
  const Shape& resolve(const Shape& shape) const;
};

// Read once; a model that cannot be read is a bug and throws.
//
// THREADS: any, after the constructor; nothing changes.
class Model {
 public:
  Model();

  // Nothing if the model has no such service.
  const Service* service(std::string_view name) const;
  // Shapes of an action's parameters and of its answer; nothing if it is not in the model. The
  // answer of some actions is empty.
  const Shape* input(const Service& service, std::string_view action) const;
  const Shape* output(const Service& service, std::string_view action) const;

 private:
  json::object document_;
  std::map<std::string, Service, std::less<>> services_;
};

// A JSON Schema (draft of our validator) for the parameters of an action: unknown keys, wrong
// types, wrong words of an enum and missing required keys are refused.
json::object schema_of(const Service& service, const Shape& shape);

}  // namespace muster::aws
