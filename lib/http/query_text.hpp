// The query of a URL, in its parts.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::http {

// Names and values, still encoded, in their order. A name without '=' has an empty value; empty
// parts are left out.
inline std::vector<std::pair<std::string_view, std::string_view>> split_query(
    std::string_view query) {
  std::vector<std::pair<std::string_view, std::string_view>> parts;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    if (part.empty()) continue;
    const std::size_t equals = std::min(part.find('='), part.size());
    parts.emplace_back(part.substr(0, equals), part.substr(std::min(equals + 1, part.size())));
  }
  return parts;
}

}  // namespace muster::http
