#include <algorithm>
#include <utility>

#include <muster/rules/node.hpp>

namespace muster::rules {

bool Node::is_null() const {
  return scalar() && scalar()->is_null();
}

const Node* Node::find(std::string_view name) const {
  const Table* members = table();
  if (!members) return nullptr;
  const auto found = std::find_if(members->begin(), members->end(),
                                  [&](const Member& member) { return member.name == name; });
  return found == members->end() ? nullptr : &found->node;
}

Node* Node::find(std::string_view name) {
  return const_cast<Node*>(std::as_const(*this).find(name));
}

json::value to_json(const Node& node) {
  if (const auto* items = node.array()) {
    json::array array;
    array.reserve(items->size());
    for (const Node& item : *items) array.push_back(to_json(item));
    return array;
  }
  if (const auto* members = node.table()) {
    json::object object;
    object.reserve(members->size());
    for (const Member& member : *members) object.emplace(member.name, to_json(member.node));
    return object;
  }
  return *node.scalar();
}

std::string_view describe_kind(const Node& node) {
  if (node.is_array()) return "a list";
  if (node.is_table()) return "a table";
  switch (node.scalar()->kind()) {
    case boost::json::kind::null:
      return "null";
    case boost::json::kind::bool_:
      return "true or false";
    case boost::json::kind::string:
      return "a string";
    default:
      return "a number";
  }
}

}  // namespace muster::rules
