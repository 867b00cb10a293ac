// Small letters, as protocols mean them: A to Z only, whatever the locale.
#pragma once

#include <string>
#include <string_view>

namespace muster {

constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string to_lower(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = to_lower(c);
  return small;
}

}  // namespace muster
