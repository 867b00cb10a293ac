// A compiled schema: a graph of nodes, one for each subschema that can be reached. Built by
// json_schema_compile.cpp, walked by json_schema_validate.cpp, never changed in between.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/json_schema.hpp>

#include "json_schema_format.hpp"
#include "json_schema_pattern.hpp"

namespace muster::json::schema_detail {

enum TypeBit : unsigned {
  type_null = 1,
  type_boolean = 2,
  type_integer = 4,
  type_number = 8,
  type_string = 16,
  type_array = 32,
  type_object = 64,
};

struct Node;
using Nodes = std::vector<const Node*>;

struct DynamicRef {
  const Node* otherwise = nullptr;    // where the reference leads by itself
  std::optional<std::string> anchor;  // if set, the outermost resource that has it decides
};

// Empty members are keywords that the subschema does not have.
struct Node {
  std::string path;    // "#/properties/name"
  int resource = 0;    // which schema resource it belongs to, for dynamic references
  bool never = false;  // the schema `false`

  const Node* ref = nullptr;
  std::optional<DynamicRef> dynamic_ref;

  unsigned types = 0;
  std::optional<std::vector<value>> allowed;  // enum
  std::optional<value> constant;

  std::optional<value> minimum, maximum, exclusive_minimum, exclusive_maximum, multiple_of;

  std::optional<std::uint64_t> min_length, max_length;
  std::optional<Pattern> pattern;
  const Format* format = nullptr;

  std::optional<std::uint64_t> min_items, max_items;
  bool unique_items = false;
  Nodes prefix_items;
  const Node* items = nullptr;  // of the items after prefix_items
  std::string_view items_keyword;
  const Node* contains = nullptr;
  std::uint64_t min_contains = 1;
  std::optional<std::uint64_t> max_contains;
  bool contains_evaluates = false;  // since 2020-12
  const Node* unevaluated_items = nullptr;

  std::optional<std::uint64_t> min_properties, max_properties;
  std::vector<std::string> required;
  std::map<std::string, const Node*, std::less<>> properties;
  std::vector<std::pair<Pattern, const Node*>> pattern_properties;
  const Node* additional_properties = nullptr;
  const Node* property_names = nullptr;
  const Node* unevaluated_properties = nullptr;
  std::map<std::string, std::vector<std::string>, std::less<>> dependent_required;
  std::map<std::string, const Node*, std::less<>> dependent_schemas;

  Nodes all_of, any_of, one_of;
  const Node* negated = nullptr;
  const Node* condition = nullptr;
  const Node* consequence = nullptr;
  const Node* alternative = nullptr;
};

struct Program {
  std::vector<std::unique_ptr<Node>> nodes;  // the first is the root
  // (resource, anchor) -> node; $recursiveAnchor is the anchor with the empty name.
  std::map<std::pair<int, std::string>, const Node*> dynamic_anchors;
};

// Compiles the keywords of one subschema into a node. The schema compiler implements it: it knows
// where references lead and makes the nodes of subschemas, which are filled later.
class Linker {
 public:
  virtual ~Linker() = default;
  // `below` is the path from the keyword's schema: "/properties/name".
  virtual const Node* subschema(const value& schema, const std::string& below) = 0;
  virtual Result<const Node*> reference(const std::string& text) = 0;
  virtual Result<DynamicRef> dynamic_reference(const std::string& text) = 0;
};

struct NodeContext {
  Draft draft;
  bool check_formats;
};

Result<void> fill_node(Node& node, const object& schema, NodeContext context, Linker& linker);

// RFC 6901: ~ and / in a key.
std::string pointer_escaped(std::string_view key);

}  // namespace muster::json::schema_detail
