// From text to nodes, with every problem on the way. The two formats meet here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <muster/rules/limits.hpp>
#include <muster/rules/node.hpp>
#include <muster/rules/problem.hpp>

namespace muster::rules {

// Size, UTF-8 and control characters: what the TOML parser must not even see.
Problems check_text(std::string_view text, const std::string& file, const Limits& limits);

struct ParsedNode {
  std::optional<Node> root;  // a table; of a TOML text with syntax errors left out: what is left
  Problems problems;
  // The root lacks lines that could not be read, so that what is missing in it means nothing.
  bool partial = false;
};

ParsedNode toml_to_node(std::string_view text, const std::string& file, const Limits& limits);
ParsedNode json_to_node(std::string_view text, const std::string& file, const Limits& limits);

}  // namespace muster::rules
