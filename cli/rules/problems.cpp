#include "cli/rules/problems.hpp"

#include <algorithm>

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

bool is_text(std::string_view line) {
  return std::all_of(line.begin(), line.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F; });
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
  std::string out;
  for (const auto& problem : problems) {
    const bool error = problem.severity == Severity::error;
    out += style(Look::bold, to_string(problem.position) + ":") + " " +
           style(error ? Look::red : Look::yellow, std::string(to_string(problem.severity)) + ":") +
           " " + style(Look::plain, words(problem)) + "\n" + excerpt(problem, files, style);
  }
  return out;
}

json::array problems_json(std::span<const Problem> problems) {
  json::array out;
  for (const auto& problem : problems)
    out.push_back({{"severity", to_string(problem.severity)},
                   {"file", problem.position.file},
                   {"line", problem.position.line},
                   {"column", problem.position.column},
                   {"key", problem.key},
                   {"reason", problem.reason},
                   {"remedy", problem.remedy},
                   {"code", problem.code}});
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
