// Pages of lists are bounded in bytes, too: a thousand items can be large ones.
#pragma once

#include <cstddef>

#include <muster/json.hpp>

namespace muster::http {

// What a page holds at most, before it is compressed and but for its last item.
inline constexpr std::size_t largest_page_bytes = std::size_t{4} << 20;

// About as many bytes as the value has as JSON, found without writing it.
inline std::size_t rough_bytes(const json::value& value) {
  constexpr std::size_t around = 4;  // quotes, colons, commas
  if (const auto* text = value.if_string()) return text->size() + around;
  std::size_t bytes = 2 * around;
  if (const auto* array = value.if_array())
    for (const json::value& each : *array) bytes += rough_bytes(each);
  if (const auto* object = value.if_object())
    for (const auto& [key, each] : *object) bytes += key.size() + around + rough_bytes(each);
  return bytes;
}

// Counts what is on a page. The first item always fits, or a list would never go on.
class PageBudget {
 public:
  explicit PageBudget(std::size_t most = largest_page_bytes) : most_(most) {}

  void take(std::size_t bytes) { used_ += bytes; }
  void take(const json::value& item) { take(rough_bytes(item)); }
  // Nothing more belongs on this page.
  bool is_full() const { return used_ >= most_; }
  std::size_t used() const { return used_; }

 private:
  std::size_t most_, used_ = 0;
};

}  // namespace muster::http
