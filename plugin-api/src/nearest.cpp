#include <algorithm>
#include <array>

#include <muster/nearest.hpp>

namespace muster {
namespace {

constexpr std::size_t longest = 64;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Optimal string alignment: Levenshtein's distance with swaps of neighbours. Letters that differ in
// case only are the same.
std::size_t distance(std::string_view a, std::string_view b) {
  using Row = std::array<std::size_t, longest + 1>;
  Row before_last{};
  Row last{};
  Row row{};
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1]))
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = last;
    last = row;
  }
  return last[b.size()];
}

// data_directory and data-directory are dataDirectory in other people's spelling.
std::string without_separators(std::string_view word) {
  std::string text;
  for (const char c : word)
    if (c != '_' && c != '-') text += lower(c);
  return text;
}

}  // namespace

std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string_view>& candidates) {
  if (word.empty() || word.size() > longest) return std::nullopt;
  std::size_t best = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::optional<std::string> found;
  for (const std::string_view candidate : candidates) {
    if (candidate.empty() || candidate.size() > longest) continue;
    if (without_separators(word) == without_separators(candidate)) return std::string(candidate);
    if (const std::size_t edits = distance(word, candidate); edits < best) {
      best = edits;
      found = std::string(candidate);
    }
  }
  return found;
}

}  // namespace muster
