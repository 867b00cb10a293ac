#include "host/fleet/outcomes/image.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace muster::fleet {
namespace {

constexpr int deepest = 8;

bool names_image(std::string_view key) {
  std::string lower(key);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  constexpr std::array<std::string_view, 4> names{"image", "imageid", "sourceimage",
                                                  "imagereference"};
  return std::ranges::find(names, lower) != names.end();
}

std::string in_words(const json::value& value) {
  if (const json::string* text = value.if_string()) return {text->data(), text->size()};
  return value.is_object() && !value.get_object().empty() ? json::canonical(value) : "";
}

std::string search(const json::value& value, int depth) {
  if (depth > deepest) return {};
  if (const json::array* list = value.if_array()) {
    for (const json::value& item : *list)
      if (std::string found = search(item, depth + 1); !found.empty()) return found;
    return {};
  }
  const json::object* object = value.if_object();
  if (!object) return {};
  for (const auto& [key, member] : *object)
    if (names_image(key))
      if (std::string found = in_words(member); !found.empty()) return found;
  for (const auto& [key, member] : *object)
    if (std::string found = search(member, depth + 1); !found.empty()) return found;
  return {};
}

}  // namespace

std::string image_of(const json::object& document) {
  return search(json::value(document), 0);
}

}  // namespace muster::fleet
