// The form of a host's id: it is a tag of instances, a line of a file, and a word on a screen.
#pragma once

#include <algorithm>
#include <string_view>

namespace muster::store {

// 1 to 64 letters, digits, - and _.
inline bool is_host_id(std::string_view text) {
  constexpr std::size_t longest = 64;
  return !text.empty() && text.size() <= longest && std::ranges::all_of(text, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '-' || letter == '_';
  });
}

}  // namespace muster::store
