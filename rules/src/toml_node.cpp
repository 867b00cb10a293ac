#include <algorithm>
#include <cmath>
#include <sstream>

#include <toml++/toml.h>

#include <muster/rules/toml_nesting.hpp>

#include "key_path.hpp"
#include "source_text.hpp"
#include "toml_recovery.hpp"

namespace muster::rules {
namespace {

Position to_position(const toml::source_position& at) {
  return {static_cast<std::uint32_t>(at.line), static_cast<std::uint32_t>(at.column)};
}

template <class T>
std::string printed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

// Sees a parsed text once and copies it into nodes, in the order of the text.
class Converter {
 public:
  Converter(const std::string& file, const Limits& limits, Problems& problems)
      : file_(file), limits_(limits), problems_(problems) {}

  Node convert(const toml::node& source, Position key, const KeyPath& path, std::size_t depth = 1) {
    Node node;
    node.key = key;
    node.value = to_position(source.source().begin);
    if (depth > limits_.max_nesting + 1) {
      report(node.value, path, nesting_reason(limits_), "keep values flatter", "tooDeep");
      return node;
    }
    if (const auto* table = source.as_table())
      node.content = convert_table(*table, path, depth);
    else if (const auto* array = source.as_array())
      node.content = convert_array(*array, path, depth);
    else
      node.content = convert_scalar(source, node.value, path);
    return node;
  }

  static std::string nesting_reason(const Limits& limits) {
    return "nested deeper than " + std::to_string(limits.max_nesting) + " levels";
  }

 private:
  void report(Position at, const KeyPath& path, std::string reason, std::string remedy,
              std::string code) {
    problems_.push_back({Severity::error,
                         {file_, at},
                         path.text(),
                         std::move(reason),
                         std::move(remedy),
                         std::move(code)});
  }

  Node::Table convert_table(const toml::table& table, const KeyPath& path, std::size_t depth) {
    Node::Table members;
    members.reserve(table.size());
    for (const auto& [key, child] : table) {
      const std::string name(key.str());
      const KeyPath child_path(path, name);
      members.push_back(
          {name, convert(child, to_position(key.source().begin), child_path, depth + 1)});
    }
    // toml++ sorts by name; people wrote in another order and want to see that.
    std::stable_sort(members.begin(), members.end(),
                     [](const Member& a, const Member& b) { return a.node.key < b.node.key; });
    return members;
  }

  Node::Array convert_array(const toml::array& array, const KeyPath& path, std::size_t depth) {
    Node::Array items;
    items.reserve(array.size());
    for (const toml::node& child : array)
      items.push_back(convert(child, to_position(child.source().begin), KeyPath(path, items.size()),
                              depth + 1));
    return items;
  }

  json::value convert_scalar(const toml::node& source, Position at, const KeyPath& path) {
    if (const auto* text = source.as_string()) return json::value(text->get());
    if (const auto* number = source.as_integer()) return json::value(number->get());
    if (const auto* truth = source.as_boolean()) return json::value(truth->get());
    if (const auto* number = source.as_floating_point()) {
      if (std::isfinite(number->get())) return json::value(number->get());
      report(at, path, "inf and nan are not allowed in a launch document",
             "write a finite number, or a string", "notFinite");
    }
    if (const auto* date = source.as_date()) return json::value(printed(date->get()));
    if (const auto* time = source.as_time()) return json::value(printed(time->get()));
    if (const auto* moment = source.as_date_time()) return json::value(printed(moment->get()));
    return nullptr;
  }

  const std::string& file_;
  const Limits& limits_;
  Problems& problems_;
};

}  // namespace

ParsedNode toml_to_node(std::string_view text, const std::string& file, const Limits& limits) {
  ParsedNode parsed;
  parsed.problems = check_text(text, file, limits);
  if (!parsed.problems.empty()) return parsed;
  if (const auto deep = find_deep_nesting(text, limits.max_nesting)) {
    parsed.problems.push_back({Severity::error,
                               {file, *deep},
                               "",
                               Converter::nesting_reason(limits),
                               "keep values flatter",
                               "tooDeep"});
    return parsed;
  }
  RecoveredToml recovered = parse_with_recovery(text, file, limits);
  parsed.problems = std::move(recovered.problems);
  parsed.partial = !parsed.problems.empty();
  if (recovered.table)
    parsed.root =
        Converter(file, limits, parsed.problems).convert(*recovered.table, {1, 1}, KeyPath());
  return parsed;
}

}  // namespace muster::rules
