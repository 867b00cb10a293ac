// A parsed value that remembers where it stands. TOML and JSON texts both become this, so that all
// checks and the evaluation are written once.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <muster/json.hpp>
#include <muster/rules/problem.hpp>

namespace muster::rules {

struct Member;

struct Node {
  using Array = std::vector<Node>;
  using Table = std::vector<Member>;  // in the order of the text

  Position key;    // where the key begins; where the value begins for array elements and the root
  Position value;  // where the value begins
  std::variant<json::value, Array, Table> content;  // json::value: null, bool, number or string

  bool is_table() const { return std::holds_alternative<Table>(content); }
  bool is_array() const { return std::holds_alternative<Array>(content); }
  bool is_null() const;
  const Table* table() const { return std::get_if<Table>(&content); }
  const Array* array() const { return std::get_if<Array>(&content); }
  const json::value* scalar() const { return std::get_if<json::value>(&content); }

  // The member of a table; nullptr if there is none or this is no table.
  const Node* find(std::string_view name) const;
  Node* find(std::string_view name);
};

struct Member {
  std::string name;
  Node node;
};

// The same without positions. Nulls inside arrays stay nulls.
json::value to_json(const Node& node);

// "a string", "a table": for error messages.
std::string_view describe_kind(const Node& node);

}  // namespace muster::rules
