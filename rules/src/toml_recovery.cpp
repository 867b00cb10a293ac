#include "toml_recovery.hpp"

#include <algorithm>
#include <vector>

namespace muster::rules {
namespace {

// Each further error costs a few parses of the whole text, so large texts show only their first.
constexpr std::size_t most_syntax_errors = 10;
constexpr std::size_t large_text = 262'144;

struct Attempt {
  std::optional<toml::table> table;
  std::string reason;
  Position at;
};

Attempt attempt(const std::string& text) {
  Attempt result;
  try {
    result.table = toml::parse(text);
  } catch (const toml::parse_error& error) {
    result.reason = std::string(error.description());
    result.at = {static_cast<std::uint32_t>(error.source().begin.line),
                 static_cast<std::uint32_t>(error.source().begin.column)};
  }
  return result;
}

// Lines of a text, each of which can be blanked without moving the others.
class Lines {
 public:
  explicit Lines(std::string_view text) {
    while (true) {
      const auto newline = text.find('\n');
      lines_.emplace_back(text.substr(0, newline));
      if (newline == std::string_view::npos) break;
      text.remove_prefix(newline + 1);
    }
  }
  std::size_t size() const { return lines_.size(); }
  void blank(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i <= last; ++i) lines_[i].clear();
  }
  bool holds_header(std::size_t first, std::size_t last) const {
    return std::any_of(lines_.begin() + static_cast<std::ptrdiff_t>(first),
                       lines_.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                       [](const std::string& line) { return first_character(line) == '['; });
  }
  // The nearest line at or above `line` that begins a statement.
  std::size_t statement_above(std::size_t line) const {
    while (line > 0 && !begins_statement(lines_[line])) --line;
    return line;
  }
  std::string joined() const {
    std::string text;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (i) text += '\n';
      text += lines_[i];
    }
    return text;
  }

 private:
  static char first_character(const std::string& line) {
    const auto found = line.find_first_not_of(" \t");
    return found == std::string::npos ? '\0' : line[found];
  }
  static bool begins_statement(const std::string& line) {
    const char c = first_character(line);
    return c == '[' || (c != '\0' && c != '#' && line.find('=') != std::string::npos);
  }
  std::vector<std::string> lines_;
};

struct Blanked {
  Lines lines;
  Attempt next;
  bool header_lost = false;
};

// An error may stand on the faulty line, or on the first line after an unclosed bracket. Of the
// ways to blank it, the one that lets the parser come farthest is the right one.
Blanked blank_statement(const Lines& lines, std::size_t line) {
  std::vector<std::size_t> begins = {line, lines.statement_above(line)};
  if (begins.back() > 0) begins.push_back(lines.statement_above(begins.back() - 1));
  std::optional<Blanked> best;
  for (const std::size_t begin : begins) {
    for (const std::size_t end : {line, line > begin ? line - 1 : line}) {
      Blanked candidate{lines, {}, lines.holds_header(begin, end)};
      candidate.lines.blank(begin, end);
      candidate.next = attempt(candidate.lines.joined());
      if (candidate.next.table) return candidate;
      if (!best || candidate.next.at.line > best->next.at.line) best = std::move(candidate);
    }
  }
  return std::move(*best);
}

std::string lower_first(std::string text) {
  if (text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a')
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

}  // namespace

RecoveredToml parse_with_recovery(std::string_view text, const std::string& file,
                                  const Limits& limits) {
  RecoveredToml result;
  Attempt current = attempt(std::string(text));
  if (current.table) {
    result.table = std::move(current.table);
    return result;
  }
  Lines lines(text);
  bool header_lost = false;
  const std::size_t most = std::min(most_syntax_errors, limits.max_problems);
  while (!current.table && result.problems.size() < most) {
    result.problems.push_back({Severity::error,
                               {file, current.at},
                               "",
                               "not TOML: " + lower_first(current.reason),
                               "correct the syntax here",
                               "syntax"});
    if (text.size() > large_text) return result;
    const std::size_t line = std::min<std::size_t>(std::max(1u, current.at.line), lines.size()) - 1;
    Blanked blanked = blank_statement(lines, line);
    // No progress: what follows would only repeat the same error.
    if (!blanked.next.table && blanked.next.at.line <= line + 1) return result;
    header_lost = header_lost || blanked.header_lost;
    lines = std::move(blanked.lines);
    current = std::move(blanked.next);
  }
  if (current.table && !header_lost) result.table = std::move(current.table);
  return result;
}

}  // namespace muster::rules
