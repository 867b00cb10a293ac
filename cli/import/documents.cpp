#include "cli/import/documents.hpp"

#include <algorithm>
#include <vector>

namespace muster::importing {

json::object common_part(std::span<const json::object* const> documents) {
  json::object common;
  if (documents.empty()) return common;
  for (const auto& [key, value] : *documents.front()) {
    std::vector<const json::object*> tables;
    bool same = true, all_have_it = true;
    for (const json::object* document : documents) {
      const json::value* found = document->if_contains(key);
      all_have_it = all_have_it && found;
      same = same && found && *found == value;
      if (found && found->is_object()) tables.push_back(&found->get_object());
    }
    if (same) {
      common[key] = value;
    } else if (all_have_it && tables.size() == documents.size()) {
      json::object below = common_part(tables);
      if (!below.empty()) common[key] = std::move(below);
    }
  }
  return common;
}

json::object difference(const json::object& document, const json::object& below) {
  json::object rest;
  for (const auto& [key, value] : document) {
    const json::value* there = below.if_contains(key);
    if (!there) {
      rest[key] = value;
    } else if (value.is_object() && there->is_object()) {
      json::object deeper = difference(value.get_object(), there->get_object());
      if (!deeper.empty()) rest[key] = std::move(deeper);
    } else if (value != *there) {
      rest[key] = value;
    }
  }
  return rest;
}

std::string first_difference(const json::object& one, const json::object& other) {
  for (const auto& [key, value] : one) {
    const json::value* there = other.if_contains(key);
    if (there && *there == value) continue;
    if (there && there->is_object() && value.is_object())
      return std::string(key) + "." + first_difference(value.get_object(), there->get_object());
    return key;
  }
  for (const auto& [key, value] : other)
    if (!one.contains(key)) return key;
  return "";
}

const json::object* table_in(const json::object& document, std::string_view key) {
  const json::value* value = document.if_contains(key);
  return value ? value->if_object() : nullptr;
}

std::string text_in(const json::object& document, std::string_view key) {
  const json::value* value = document.if_contains(key);
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

json::value take(json::object& document, std::string_view key) {
  const auto found = document.find(key);
  if (found == document.end()) return nullptr;
  json::value value = std::move(found->value());
  json::object rest;  // erase() of Boost.JSON changes the order of what stays
  for (auto& [name, member] : document)
    if (name != key) rest[name] = std::move(member);
  document = std::move(rest);
  return value;
}

}  // namespace muster::importing
