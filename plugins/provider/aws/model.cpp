#include "plugins/provider/aws/model.hpp"

#include "plugins/provider/aws/words.hpp"

namespace muster::aws {
namespace {

std::string text_of(const json::object& object, const char* key,
                    const std::string& otherwise = {}) {
  const json::value* const found = object.if_contains(key);
  return found ? std::string(found->as_string()) : otherwise;
}

Shape::Type type_of(const std::string& name) {
  using Type = Shape::Type;
  static const std::map<std::string, Type> types = {
      {"structure", Type::structure}, {"list", Type::list},       {"map", Type::map},
      {"string", Type::string},       {"integer", Type::integer}, {"long", Type::integer},
      {"float", Type::number},        {"double", Type::number},   {"boolean", Type::boolean},
      {"timestamp", Type::timestamp}, {"blob", Type::blob}};
  return types.at(name);
}

std::string with_capital(std::string name) {
  if (!name.empty() && name[0] >= 'a' && name[0] <= 'z')
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name;
}

}  // namespace

// Makes the shapes of one service. A structure is made once, and before its members, so that one
// that contains itself has an end.
class Model::Builder {
 public:
  Builder(std::deque<Shape>& shapes, const json::object& document)
      : shapes_(shapes), named_(document.at("shapes").as_object()) {
    is_ec2_ = document.at("protocol").as_string() == "ec2";
  }

  const Shape* shape(const json::object& place) {
    if (const json::value* const name = place.if_contains("shape")) return structure(*name);
    Shape& made = shapes_.emplace_back();
    made.type = type_of(text_of(place, "type", "string"));
    made.is_sensitive = place.contains("sensitive");
    if (const json::value* const words = place.if_contains("enum"))
      for (const json::value& word : words->as_array()) made.words.emplace_back(word.as_string());
    const json::value* element = place.if_contains("member");
    if (!element) element = place.if_contains("value");
    if (element) made.element = shape(element->as_object());
    return &made;
  }

 private:
  const Shape* structure(const json::value& name) {
    const std::string key(name.as_string());
    if (const auto found = made_.find(key); found != made_.end()) return found->second;
    Shape& made = shapes_.emplace_back();
    made.type = Shape::Type::structure;
    made_[key] = &made;
    const json::object& document = named_.at(key).as_object();
    for (const auto& entry : document.at("members").as_object()) {
      Member member = read_member(std::string(entry.key()), entry.value().as_object());
      made.by_name[member.name] = made.by_xml_name[member.xml_name] = made.members.size();
      made.members.push_back(std::move(member));
    }
    if (const json::value* const required = document.if_contains("required"))
      for (const json::value& required_name : required->as_array())
        made.members[made.by_name.at(std::string(required_name.as_string()))].is_required = true;
    return &made;
  }

  Member read_member(const std::string& name, const json::object& place) {
    Member member{.name = name, .form_name = {}, .xml_name = text_of(place, "locationName", name)};
    member.form_name =
        is_ec2_ ? text_of(place, "queryName", with_capital(member.xml_name)) : member.xml_name;
    member.shape = shape(place);
    return member;
  }

  std::deque<Shape>& shapes_;
  const json::object& named_;
  bool is_ec2_ = false;
  std::map<std::string, const Shape*> made_;
};

Model::Model() {
  const json::value model = documents.read("model");
  const json::object& document = model.as_object();
  for (const auto& entry : document) {
    const json::object& about = entry.value().as_object();
    Service service{.name = std::string(entry.key()),
                    .protocol = text_of(about, "protocol"),
                    .version = text_of(about, "apiVersion"),
                    .endpoint_prefix = text_of(about, "endpointPrefix"),
                    .target_prefix = text_of(about, "targetPrefix"),
                    .json_version = text_of(about, "jsonVersion")};
    Builder builder(shapes_, about);
    for (const auto& operation : about.at("operations").as_object()) {
      const json::object& places = operation.value().as_object();
      Action action;
      if (const json::value* const input = places.if_contains("input"))
        action.input = builder.shape(input->as_object());
      if (const json::value* const output = places.if_contains("output")) {
        action.output = builder.shape(output->as_object());
        action.result_wrapper = text_of(output->as_object(), "resultWrapper");
      }
      service.actions[std::string(operation.key())] = std::move(action);
    }
    services_[service.name] = std::move(service);
  }
}

const Service* Model::service(std::string_view name) const {
  const auto found = services_.find(name);
  return found == services_.end() ? nullptr : &found->second;
}

const Action* Service::action(std::string_view action_name) const {
  const auto found = actions.find(action_name);
  return found == actions.end() ? nullptr : &found->second;
}

// -------------------------------------------------------------------------------------------------
// Schemas

namespace {

json::object structure_schema(const Shape& shape) {
  json::object properties;
  json::array required;
  for (const Member& member : shape.members) {
    properties[member.name] = schema_of(*member.shape);
    if (member.is_required) required.emplace_back(member.name);
  }
  json::object schema{
      {"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

}  // namespace

json::object schema_of(const Shape& shape) {
  using Type = Shape::Type;
  switch (shape.type) {
    case Type::structure:
      return structure_schema(shape);
    case Type::list:
      return {{"type", "array"}, {"items", schema_of(*shape.element)}};
    case Type::map:
      return {{"type", "object"}, {"additionalProperties", schema_of(*shape.element)}};
    case Type::integer:
      return {{"type", "integer"}};
    case Type::number:
      return {{"type", "number"}};
    case Type::boolean:
      return {{"type", "boolean"}};
    case Type::string:
    case Type::timestamp:
    case Type::blob:
      break;
  }
  json::object schema{{"type", "string"}};
  if (!shape.words.empty()) schema["enum"] = json::array(shape.words.begin(), shape.words.end());
  return schema;
}

}  // namespace muster::aws
