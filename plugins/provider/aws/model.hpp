// AWS's own model of its APIs, cut to the calls that the provider makes (model.json).
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <muster/json.hpp>

namespace muster::aws {

struct Shape;

struct Member {
  std::string name;       // as AWS's documentation spells it: "SecurityGroupIds"
  std::string form_name;  // in a form: "SecurityGroupId"
  std::string xml_name;   // in an answer: "groupSet"
  const Shape* shape = nullptr;
  bool is_required = false;
};

struct Shape {
  enum class Type { structure, list, map, string, integer, number, boolean, timestamp, blob };
  Type type = Type::string;
  std::vector<Member> members = {};  // of a structure
  std::map<std::string, std::size_t, std::less<>> by_name = {}, by_xml_name = {};
  const Shape* element = nullptr;  // of a list; of a map its values
  // What AWS knew when the model was cut. Empty: any text, also where words are added all the time
  // (instance types).
  std::vector<std::string> words = {};
  bool is_sensitive = false;  // never shown
};

struct Action {
  const Shape* input = nullptr;
  const Shape* output = nullptr;    // nothing: the answer is empty
  std::string result_wrapper = {};  // the element around the answer; empty: none
};

struct Service {
  std::string name;                                   // "ec2"
  std::string protocol;                               // "ec2", "query", "json"
  std::string version;                                // "2016-11-15"
  std::string endpoint_prefix;                        // "ec2"
  std::string target_prefix = {}, json_version = {};  // of the protocol "json"
  std::map<std::string, Action, std::less<>> actions = {};

  // Nothing if the model has no such action.
  const Action* action(std::string_view action_name) const;
};

// Reads model.json, which is a part of the plugin. If that cannot be read, it throws: a bug.
//
// THREADS: any, after the constructor; nothing changes. Pointers are valid as long as the model.
class Model {
 public:
  Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // Nothing if the model has no such service.
  const Service* service(std::string_view name) const;

 private:
  class Builder;
  std::deque<Shape> shapes_;
  std::map<std::string, Service, std::less<>> services_;
};

// A JSON Schema for such a value: unknown keys, wrong types, wrong words and missing required keys
// are refused.
json::object schema_of(const Shape& shape);

}  // namespace muster::aws
