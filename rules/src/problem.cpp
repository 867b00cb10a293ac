#include <algorithm>
#include <tuple>

#include <muster/nearest.hpp>
#include <muster/rules/problem.hpp>

namespace muster::rules {

std::string_view to_string(Severity severity) {
  return severity == Severity::error ? "error" : "warning";
}

std::string to_string(const SourcePosition& position) {
  std::string text = position.file;
  if (position.line) text += ':' + std::to_string(position.line);
  if (position.line && position.column) text += ':' + std::to_string(position.column);
  return text;
}

std::string to_string(const Problem& problem) {
  std::string text = to_string(problem.position);
  if (!text.empty()) text += ": ";
  if (!problem.key.empty()) text += problem.key + ": ";
  text += problem.reason;
  if (!problem.remedy.empty()) text += "; " + problem.remedy;
  return text;
}

std::string in_quotes(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  constexpr std::size_t longest = 80;
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (i >= longest && (byte & 0xC0) != 0x80) return out + "...\"";
    if (byte == '\n')
      out += "\\n";
    else if (byte == '\t')
      out += "\\t";
    else if (byte < 0x20 || byte == 0x7f)
      ((out += "\\u00") += digits[byte >> 4]) += digits[byte & 15];
    else
      out += text[i];
  }
  return out + "\"";
}

bool has_errors(std::span<const Problem> problems) {
  return std::any_of(problems.begin(), problems.end(),
                     [](const Problem& p) { return p.severity == Severity::error; });
}

void sort_problems(Problems& problems) {
  std::stable_sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.position, a.severity) < std::tie(b.position, b.severity);
  });
}

std::string nearest_name(std::string_view name, std::span<const std::string> known) {
  return nearest(name, {known.begin(), known.end()}).value_or("");
}

}  // namespace muster::rules
