#include <algorithm>
#include <numeric>
#include <tuple>

#include <muster/rules/problem.hpp>

namespace muster::rules {
namespace {

// Edits (insert, delete, replace, swap of neighbours) from one name to the other; case costs
// nothing extra beyond its replacement.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string folded(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (c != '_' && c != '-') text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

}  // namespace

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
  constexpr std::size_t longest = 64;  // a longer one is no typing error
  if (name.empty() || name.size() > longest) return {};
  const std::string wanted = folded(name);
  std::size_t best = 1 + std::max<std::size_t>(1, wanted.size() / 3);
  std::string nearest;
  for (const std::string& candidate : known) {
    if (candidate.size() > longest) continue;
    const std::size_t distance = edit_distance(wanted, folded(candidate));
    if (distance < best) best = distance, nearest = candidate;
  }
  return nearest;
}

}  // namespace muster::rules
