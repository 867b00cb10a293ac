#include "lib/toml/mistake.hpp"

#include <algorithm>
#include <tuple>

namespace muster::config {

std::string to_string(const Mistake& mistake, const std::string& file) {
  std::string text = file + ":" + std::to_string(mistake.position.line) + ":" +
                     std::to_string(mistake.position.column) +
                     (mistake.severity == Severity::error ? ": error: " : ": warning: ");
  if (!mistake.key.empty()) text += mistake.key + ": ";
  text += mistake.reason;
  if (!mistake.remedy.empty()) text += "; " + mistake.remedy;
  return text;
}

bool has_errors(const std::vector<Mistake>& mistakes) {
  return std::any_of(mistakes.begin(), mistakes.end(),
                     [](const Mistake& m) { return m.severity == Severity::error; });
}

void sort_mistakes(std::vector<Mistake>& mistakes) {
  std::stable_sort(mistakes.begin(), mistakes.end(), [](const Mistake& a, const Mistake& b) {
    return std::tie(a.position, a.key) < std::tie(b.position, b.key);
  });
  mistakes.erase(std::unique(mistakes.begin(), mistakes.end()), mistakes.end());
}

}  // namespace muster::config
