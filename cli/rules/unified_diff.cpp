#include "cli/rules/unified_diff.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace muster::cli {
namespace {

using TextLines = std::vector<std::string_view>;

TextLines split(std::string_view text) {
  TextLines lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

struct Step {
  char sign;  // ' ', '-', '+'
  std::string_view line;
};

// The middle that is not common to both ends, by longest common subsequence; a middle too large for
// that is replaced whole.
void middle(const TextLines& a, std::size_t a_begin, std::size_t a_end, const TextLines& b,
            std::size_t b_begin, std::size_t b_end, std::vector<Step>& steps) {
  const auto rows = a_end - a_begin, columns = b_end - b_begin;
  constexpr std::size_t most = 4'000'000;
  std::vector<std::uint32_t> longest;
  const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& {
    return longest[i * (columns + 1) + j];
  };
  if ((rows + 1) * (columns + 1) <= most) {
    longest.assign((rows + 1) * (columns + 1), 0);
    for (auto i = rows; i-- > 0;)
      for (auto j = columns; j-- > 0;)
        at(i, j) = a[a_begin + i] == b[b_begin + j] ? at(i + 1, j + 1) + 1
                                                    : std::max(at(i + 1, j), at(i, j + 1));
  }
  std::size_t i = 0, j = 0;
  while (!longest.empty() && i < rows && j < columns) {
    if (a[a_begin + i] == b[b_begin + j]) {
      steps.push_back({' ', a[a_begin + i]});
      ++i, ++j;
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      steps.push_back({'-', a[a_begin + i++]});
    } else {
      steps.push_back({'+', b[b_begin + j++]});
    }
  }
  for (; i < rows; ++i) steps.push_back({'-', a[a_begin + i]});
  for (; j < columns; ++j) steps.push_back({'+', b[b_begin + j]});
}

std::vector<Step> compare(const TextLines& a, const TextLines& b) {
  std::size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  while (tail + head < a.size() && tail + head < b.size() &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  std::vector<Step> steps;
  for (std::size_t i = 0; i < head; ++i) steps.push_back({' ', a[i]});
  middle(a, head, a.size() - tail, b, head, b.size() - tail, steps);
  for (auto i = a.size() - tail; i < a.size(); ++i) steps.push_back({' ', a[i]});
  return steps;
}

std::string range(std::size_t first, std::size_t count) {
  if (count == 0) return std::to_string(first) + ",0";
  return std::to_string(first + 1) + (count == 1 ? "" : "," + std::to_string(count));
}

std::string line_text(const Step& step, const Style& style) {
  auto line = step.line;
  const bool open = !line.ends_with('\n');
  if (!open) line.remove_suffix(1);
  const bool carriage = line.ends_with('\r');
  if (carriage) line.remove_suffix(1);
  const auto look = step.sign == '-' ? Look::red : step.sign == '+' ? Look::green : Look::plain;
  std::string text(line);  // as it is: a diff must apply
  text = step.sign + text;
  const auto shown =
      look == Look::plain || text.find('\t') != std::string::npos ? text : style(look, text);
  return shown + (carriage ? "\r" : "") + "\n" + (open ? "\\ No newline at end of file\n" : "");
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, const std::string& file,
                         const Style& style) {
  if (before == after) return {};
  constexpr std::size_t context = 3;
  const auto steps = compare(split(before), split(after));
  std::string out =
      style(Look::bold, "--- a/" + file) + "\n" + style(Look::bold, "+++ b/" + file) + "\n";
  std::size_t old_line = 0, new_line = 0;
  for (std::size_t i = 0; i < steps.size();) {
    if (steps[i].sign == ' ') {
      ++i, ++old_line, ++new_line;
      continue;
    }
    // A hunk reaches on while changes are no further apart than twice the context.
    std::size_t last = i;
    for (auto k = i; k < steps.size() && k <= last + 2 * context; ++k)
      if (steps[k].sign != ' ') last = k;
    const auto begin = i - std::min(context, i);
    const auto end = std::min(steps.size(), last + 1 + context);
    const auto old_first = old_line - (i - begin), new_first = new_line - (i - begin);
    std::size_t old_count = 0, new_count = 0;
    std::string body;
    for (auto k = begin; k < end; ++k) {
      old_count += steps[k].sign != '+';
      new_count += steps[k].sign != '-';
      body += line_text(steps[k], style);
    }
    out += style(Look::cyan, "@@ -" + range(old_first, old_count) + " +" +
                                 range(new_first, new_count) + " @@") +
           "\n" + body;
    old_line = old_first + old_count;
    new_line = new_first + new_count;
    i = end;
  }
  return out;
}

LineCounts count_changes(std::string_view before, std::string_view after) {
  LineCounts counts;
  for (const auto& step : compare(split(before), split(after))) {
    counts.removed += step.sign == '-';
    counts.added += step.sign == '+';
  }
  return counts;
}

}  // namespace muster::cli
