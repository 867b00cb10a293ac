// What is wrong with a file: always where, what, and what to do about it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

// Line and column count from 1, columns in characters (code points). Line 0: the file as a whole.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};

struct SourcePosition {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  SourcePosition() = default;
  SourcePosition(std::string name, Position at)
      : file(std::move(name)), line(at.line), column(at.column) {}
  friend auto operator<=>(const SourcePosition&, const SourcePosition&) = default;
};

// An error keeps the file from being used, a warning does not.
enum class Severity { error, warning };
std::string_view to_string(Severity severity);

struct Problem {
  Severity severity = Severity::error;
  SourcePosition position;
  std::string key;     // path in the document, `rules[2].conditions.region`; may be empty
  std::string reason;  // what is wrong
  std::string remedy;  // what to do; may be empty
  std::string code;    // stable word for tools and tests: "unknownKey", "duplicateRuleId"
  friend bool operator==(const Problem&, const Problem&) = default;
};
using Problems = std::vector<Problem>;

// `file:line:column: key: reason; remedy`, without the parts that are empty.
std::string to_string(const SourcePosition& position);
std::string to_string(const Problem& problem);

// A piece of a document inside a message: quoted, on one line, cut if long.
std::string in_quotes(std::string_view text);

bool has_errors(std::span<const Problem> problems);

// By file, line, column; errors before warnings at one place.
void sort_problems(Problems& problems);

// The name in `known` that a person most likely meant by `name`; empty if none is near.
std::string nearest_name(std::string_view name, std::span<const std::string> known);

}  // namespace muster::rules
