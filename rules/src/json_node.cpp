#include <charconv>

#include <muster/json.hpp>

#include "source_text.hpp"
#include "unicode.hpp"

namespace muster::rules {
namespace {

// Walks a text that is known to be JSON beside the value that was read from it, only to learn where
// each part stands.
class Locator {
 public:
  explicit Locator(std::string_view text) : text_(text) { skip_blanks(); }

  Node locate(json::value&& value, std::optional<Position> key = {}) {
    Node node;
    node.value = at_;
    node.key = key.value_or(at_);
    if (auto* object = value.if_object())
      node.content = locate_members(*object);
    else if (auto* array = value.if_array())
      node.content = locate_items(*array);
    else {
      skip_scalar();
      node.content = std::move(value);
    }
    skip_blanks();
    return node;
  }

 private:
  Node::Table locate_members(json::object& object) {
    Node::Table members;
    members.reserve(object.size());
    step();  // {
    skip_blanks();
    for (auto& [name, value] : object) {
      const Position key = at_;
      skip_scalar();
      skip_blanks();
      step();  // :
      skip_blanks();
      members.push_back({std::string(name), locate(std::move(value), key)});
      if (text_[offset_] == ',') step(), skip_blanks();
    }
    step();  // }
    return members;
  }

  Node::Array locate_items(json::array& array) {
    Node::Array items;
    items.reserve(array.size());
    step();  // [
    skip_blanks();
    for (json::value& value : array) {
      items.push_back(locate(std::move(value)));
      if (text_[offset_] == ',') step(), skip_blanks();
    }
    step();  // ]
    return items;
  }

  void skip_scalar() {
    if (text_[offset_] == '"') {
      for (step(); text_[offset_] != '"'; step())
        if (text_[offset_] == '\\') step();
      return step();
    }
    while (offset_ < text_.size() &&
           std::string_view(" \t\r\n,]}:").find(text_[offset_]) == std::string_view::npos)
      step();
  }

  void skip_blanks() {
    while (offset_ < text_.size() && is_blank(text_[offset_])) step();
  }
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

  void step() {
    const char32_t c = next_code_point(text_, offset_);
    if (c == '\n')
      ++at_.line, at_.column = 1;
    else
      ++at_.column;
  }

  std::string_view text_;
  std::size_t offset_ = 0;
  Position at_{1, 1};
};

// The JSON reader's messages end with ", line L, column C".
Position take_position(std::string& message) {
  Position at{};
  const auto line = message.rfind(", line ");
  const auto column = message.rfind(", column ");
  if (line == std::string::npos || column == std::string::npos || column < line) return {};
  std::from_chars(message.data() + line + 7, message.data() + column, at.line);
  std::from_chars(message.data() + column + 9, message.data() + message.size(), at.column);
  message.resize(line);
  return at;
}

}  // namespace

ParsedNode json_to_node(std::string_view text, const std::string& file, const Limits& limits) {
  ParsedNode parsed;
  parsed.problems = check_text(text, file, limits);
  if (!parsed.problems.empty()) return parsed;
  auto value = json::parse(text, {limits.max_nesting});
  if (!value) {
    std::string reason = value.error().message;
    const Position at = take_position(reason);
    const bool deep = reason.starts_with("nested");
    parsed.problems.push_back({Severity::error,
                               {file, at},
                               "",
                               std::move(reason),
                               deep ? "keep values flatter" : "correct the syntax here",
                               deep ? "tooDeep" : "syntax"});
    return parsed;
  }
  parsed.root = Locator(text).locate(std::move(*value));
  return parsed;
}

}  // namespace muster::rules
