// Reading members of AWS's documents, where anything may be absent.
#pragma once

#include <string>
#include <string_view>

#include <muster/json.hpp>

namespace muster::aws {

// Empty if there is no such member, or if it is no text.
inline std::string text_of(const json::object& object, std::string_view key) {
  const json::value* found = object.if_contains(key);
  return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

inline std::int64_t number_of(const json::object& object, std::string_view key) {
  const json::value* found = object.if_contains(key);
  return found && found->is_int64() ? found->get_int64() : 0;
}

// Nothing that is there for longer than the object.
inline const json::object* table_of(const json::object& object, std::string_view key) {
  const json::value* found = object.if_contains(key);
  return found && found->is_object() ? &found->get_object() : nullptr;
}

// Calls `take` with each object of the list `key`; with none if there is no such list.
template <class Take>
void for_each_of(const json::object& object, std::string_view key, const Take& take) {
  const json::value* found = object.if_contains(key);
  if (!found || !found->is_array()) return;
  for (const json::value& item : found->get_array())
    if (item.is_object()) take(item.get_object());
}

}  // namespace muster::aws
