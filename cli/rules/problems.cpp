#include "cli/rules/problems.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <muster/rules/problem_json.hpp>

namespace muster::cli {
namespace {

using rules::Problem;
using rules::Severity;

std::string words(const Problem& problem) {
  std::string text = problem.key.empty() ? "" : problem.key + ": ";
  text += problem.reason;
  if (!problem.remedy.empty()) text += "; " + problem.remedy;
  return text;
}

std::string_view line_of(std::string_view text, std::size_t number) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (; number > 1; --number) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

// No control characters, and UTF-8 as far as its lead and following bytes go.
bool is_text(std::string_view line) {
  int following = 0;
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || byte > 0xF4) return false;
    if ((byte & 0xC0) == 0x80) {
      if (--following < 0) return false;
    } else {
      if (following > 0) return false;
      following = byte < 0xC0 ? 0 : byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
    }
  }
  return following == 0;
}

// The line and a mark under the column. Tabs become spaces so that the mark stands right; a long
// line (an inline table, a minified JSON) and bytes that are no text are not worth showing.
std::string excerpt(const Problem& problem, std::span<const rules::SourceFile> files,
                    const Style& style) {
  const auto file = std::find_if(files.begin(), files.end(), [&](const auto& candidate) {
    return candidate.name == problem.position.file;
  });
  if (file == files.end() || problem.position.line == 0) return {};
  std::string line(line_of(file->text, problem.position.line));
  std::replace(line.begin(), line.end(), '\t', ' ');
  constexpr std::size_t widest = 110;
  if (line.empty() || display_width(line) > widest || !is_text(line)) return {};
  const auto number = std::to_string(problem.position.line);
  const std::string margin(number.size() < 4 ? 4 - number.size() : 0, ' ');
  std::string out = style(Look::dim, margin + number + " | ") + line + "\n";
  if (problem.position.column == 0) return out;
  const std::string gap(margin.size() + number.size(), ' ');
  return out + style(Look::dim, gap + " | ") + std::string(problem.position.column - 1, ' ') +
         style(problem.severity == Severity::error ? Look::red : Look::yellow, "^") + "\n";
}

std::string escaped(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    if (c == '%')
      out += "%25";
    else if (c == '\r')
      out += "%0D";
    else if (c == '\n')
      out += "%0A";
    else if (property && c == ':')
      out += "%3A";
    else if (property && c == ',')
      out += "%2C";
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string problems_text(std::span<const Problem> problems,
                          std::span<const rules::SourceFile> files, const Style& style) {
  // A file that is not text at all has one problem, not one for each byte.
  constexpr std::size_t most_alike = 3;
  std::map<std::pair<std::string, std::string>, std::size_t> alike;
  std::string out;
  for (const auto& problem : problems) {
    auto& count = alike[{problem.position.file, problem.code + problem.reason}];
    if (++count > most_alike) continue;
    const bool error = problem.severity == Severity::error;
    out += style(Look::bold, to_string(problem.position) + ":") + " " +
           style(error ? Look::red : Look::yellow, std::string(to_string(problem.severity)) + ":") +
           " " + style(Look::plain, words(problem)) + "\n" + excerpt(problem, files, style);
  }
  for (const auto& [key, count] : alike)
    if (count > most_alike)
      out += style(Look::bold, key.first + ":") + " and " + std::to_string(count - most_alike) +
             " more of the same kind\n";
  return out;
}

json::array problems_json(std::span<const Problem> problems) {
  json::array out;
  for (const auto& problem : problems) out.push_back(rules::to_json(problem));
  return out;
}

std::string problems_github(std::span<const Problem> problems) {
  std::string out;
  for (const auto& problem : problems) {
    out += "::" + std::string(to_string(problem.severity)) +
           " file=" + escaped(problem.position.file, true);
    if (problem.position.line > 0) out += ",line=" + std::to_string(problem.position.line);
    if (problem.position.column > 0) out += ",col=" + std::to_string(problem.position.column);
    out += "::" + escaped(words(problem), false) + "\n";
  }
  return out;
}

}  // namespace muster::cli
