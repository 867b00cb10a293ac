#include "host/base/nearest.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace muster {
namespace {

constexpr std::size_t longest_word = 64;  // longer ones are no typing mistakes

// In halves: a letter of the other case costs one, any other mistake two.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = 2 * j;
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = 2 * i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = a[i - 1] == b[j - 1];
      const std::size_t replace = same ? 0 : lower(a[i - 1]) == lower(b[j - 1]) ? 1 : 2;
      row[j] = std::min({last[j] + 2, row[j - 1] + 2, last[j - 1] + replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 2);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

// data_directory and data-directory are dataDirectory in other people's spelling.
std::string without_separators(std::string_view word) {
  std::string text;
  for (const char c : word)
    if (c != '_' && c != '-')
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  if (word.empty() || word.size() > longest_word) return {};
  std::string best;
  std::size_t best_distance = 2 * std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > longest_word) continue;
    if (without_separators(word) == without_separators(candidate)) return candidate;
    const std::size_t here = distance(word, candidate);
    if (here < best_distance) best_distance = here, best = candidate;
  }
  return best;
}

}  // namespace muster
