// What lists of the fleet share: names of enumerators, pages, and the search for a text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/error.hpp>
#include <muster/json.hpp>

#include "lib/base/letter_case.hpp"
#include "lib/http/page_budget.hpp"

namespace muster::api {

inline constexpr std::int64_t most_offset = 10'000'000;

// The number of the enumerator that has this name; nothing if none has.
template <class E>
std::optional<E> named(std::string_view name) {
  const auto names = enum_names(E{});
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<E>(found - names.begin());
}

template <class E>
Error not_one_of(const char* parameter) {
  std::string text = "`" + std::string(parameter) + "` is one of";
  for (const std::string_view name : enum_names(E{})) text += " " + std::string(name);
  return Error::invalid(text);
}

// Leaves of all of them, in order, those from `offset` on, `count` at most. True: there are more
// behind them.
template <class T, class Before>
bool keep_page(std::vector<T>& all, std::size_t offset, std::size_t count, Before before) {
  const std::size_t first = std::min(offset, all.size());
  const std::size_t last = first + std::min(count, all.size() - first);
  const bool more = last < all.size();
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(last);
  std::partial_sort(all.begin(), end, all.end(), before);
  all.erase(end, all.end());
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first));
  return more;
}

// The documents of as many of them as a page holds; `last` is the last one that is on it.
template <class T, class Document>
json::array page_of(const std::vector<T>& chosen, bool& more, T& last, Document document) {
  json::array shown;
  http::PageBudget page;
  for (const T& each : chosen) {
    if (page.is_full()) {
      more = true;
      break;
    }
    shown.push_back(document(each));
    page.take(shown.back());
    last = each;
  }
  return shown;
}

// Whatever the case of the letters.
inline bool contains_text(std::string_view text, std::string_view wanted) {
  const auto small = [](char c) { return to_lower(c); };
  return wanted.empty() || !std::ranges::search(text, wanted, {}, small, small).empty();
}

}  // namespace muster::api
