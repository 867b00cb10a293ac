// Members of documents where anything may be absent: a cloud's answers, what teams write.
#pragma once

#include <string>
#include <string_view>

#include <muster/json.hpp>

namespace muster::cloud {

// Empty if there is no such member, or if it is no text.
inline std::string text_of(const json::object& object, std::string_view key) {
  const json::value* found = object.if_contains(key);
  return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

inline std::int64_t number_of(const json::object& object, std::string_view key) {
  const json::value* found = object.if_contains(key);
  return found && found->is_int64() ? found->get_int64() : 0;
}

// Null if there is none. It points into the object.
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

inline void set_default(json::object& object, std::string_view key, json::value value) {
  if (!object.contains(key)) object[key] = std::move(value);
}

// The table `key`, made if there is none.
inline json::object& table_in(json::object& object, std::string_view key) {
  json::value& value = object[key];
  if (!value.is_object()) value.emplace_object();
  return value.get_object();
}

// Tables merge, everything else replaces, as rules do it.
inline void lay_over(json::object& target, const json::object& source) {
  for (const auto& [key, value] : source) {
    json::value* below = target.if_contains(key);
    if (below && below->is_object() && value.is_object())
      lay_over(below->get_object(), value.get_object());
    else
      target[key] = value;
  }
}

}  // namespace muster::cloud
