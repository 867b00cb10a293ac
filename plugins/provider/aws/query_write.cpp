#include <muster/nearest.hpp>

#include "lib/url/url.hpp"
#include "plugins/provider/aws/query.hpp"

namespace muster::aws {
namespace {

using Type = Shape::Type;

const char* kind_of(const json::value& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      return "null";
    case boost::json::kind::bool_:
      return "a boolean";
    case boost::json::kind::int64:
    case boost::json::kind::uint64:
      return "an integer";
    case boost::json::kind::double_:
      return "a number";
    case boost::json::kind::string:
      return "a string";
    case boost::json::kind::array:
      return "a list";
    case boost::json::kind::object:
      return "a table";
  }
  return "unknown";
}

const char* name_of(Type type) {
  switch (type) {
    case Type::structure:
    case Type::map:
      return "a table";
    case Type::list:
      return "a list";
    case Type::integer:
      return "an integer";
    case Type::number:
      return "a number";
    case Type::boolean:
      return "a boolean";
    default:
      return "a string";
  }
}

bool fits(const json::value& value, Type type) {
  switch (type) {
    case Type::structure:
    case Type::map:
      return value.is_object();
    case Type::list:
      return value.is_array();
    case Type::integer:
      return value.is_int64() || value.is_uint64();
    case Type::number:
      return value.is_number();
    case Type::boolean:
      return value.is_bool();
    default:
      return value.is_string();
  }
}

std::string in_path(const std::string& path, const std::string& member) {
  return path.empty() ? member : path + "." + member;
}

Error wrong(const std::string& path, const std::string& what) {
  return Error::invalid((path.empty() ? "the parameters" : path) + ": " + what);
}

// Walks a value along its shape. Writes form fields, if there is a form to write to.
class Walk {
 public:
  Walk(const Service& service, std::string* form) : service_(service), form_(form) {}

  Result<void> value(const json::value& value, const Shape& shape, const std::string& path,
                     const std::string& field) {
    if (!fits(value, shape.type))
      return wrong(path,
                   std::string("is ") + kind_of(value) + " and must be " + name_of(shape.type));
    switch (shape.type) {
      case Type::structure:
        return structure(value.get_object(), shape, path, field);
      case Type::list:
        return list(value.get_array(), shape, path, field);
      case Type::map:
        return map(value.get_object(), shape, path);
      default:
        write(field, value);
        return {};
    }
  }

 private:
  Result<void> structure(const json::object& object, const Shape& shape, const std::string& path,
                         const std::string& field) {
    for (const auto& entry : object) {
      const auto found = shape.by_name.find(std::string_view(entry.key()));
      if (found == shape.by_name.end())
        return wrong(in_path(path, std::string(entry.key())),
                     "AWS has no such parameter" + nearest_name(shape, entry.key()));
      const Member& member = shape.members[found->second];
      auto walked = value(entry.value(), *member.shape, in_path(path, member.name),
                          in_path(field, member.form_name));
      if (!walked) return walked;
    }
    for (const Member& member : shape.members)
      if (member.is_required && !object.contains(member.name))
        return wrong(in_path(path, member.name), "is missing");
    return {};
  }

  static std::string nearest_name(const Shape& shape, std::string_view name) {
    std::vector<std::string_view> names;
    for (const Member& member : shape.members) names.push_back(member.name);
    const auto near = nearest(name, names);
    return near ? "; did you mean " + *near + "?" : std::string();
  }

  Result<void> list(const json::array& array, const Shape& shape, const std::string& path,
                    const std::string& field) {
    const std::string between = service_.protocol == "query" ? ".member." : ".";
    for (std::size_t i = 0; i < array.size(); ++i) {
      auto walked = value(array[i], *shape.element, path + "[" + std::to_string(i) + "]",
                          field + between + std::to_string(i + 1));
      if (!walked) return walked;
    }
    return {};
  }

  // Only in JSON: no form of ours has maps.
  Result<void> map(const json::object& object, const Shape& shape, const std::string& path) {
    for (const auto& entry : object) {
      const std::string key(entry.key());
      if (auto walked = value(entry.value(), *shape.element, in_path(path, key), key); !walked)
        return walked;
    }
    return {};
  }

  void write(const std::string& field, const json::value& value) {
    if (!form_) return;
    const std::string text =
        value.is_string() ? std::string(value.get_string()) : json::write(value);
    *form_ += "&" + encode_segment(field) + "=" + encode_segment(text);
  }

  const Service& service_;
  std::string* const form_;
};

}  // namespace

Result<std::string> write_body(const Service& service, const std::string& action_name,
                               const json::object& parameters) {
  const Action* const action = service.action(action_name);
  if (!action) return Error::invalid("the model of " + service.name + " has no " + action_name);
  const bool is_form = service.protocol != "json";
  std::string body;
  if (is_form) body = "Action=" + action_name + "&Version=" + service.version;
  if (action->input) {
    Walk walk(service, is_form ? &body : nullptr);
    if (auto walked = walk.value(json::value(parameters), *action->input, "", ""); !walked)
      return walked.error();
  } else if (!parameters.empty()) {
    return Error::invalid(action_name + " takes no parameters");
  }
  return is_form ? body : json::write(json::value(parameters));
}

}  // namespace muster::aws
