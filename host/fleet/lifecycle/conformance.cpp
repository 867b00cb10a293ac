#include "host/fleet/lifecycle/conformance.hpp"

#include <algorithm>

namespace muster::lifecycle {
namespace {

const json::value* find(const json::object& document, std::string_view path) {
  const std::size_t dot = path.find('.');
  const json::value* value = document.if_contains(path.substr(0, dot));
  if (!value || dot == std::string_view::npos) return value;
  const json::object* table = value->if_object();
  return table ? find(*table, path.substr(dot + 1)) : nullptr;
}

void remove(json::object& document, std::string_view path) {
  const std::size_t dot = path.find('.');
  const auto key = path.substr(0, dot);
  if (dot == std::string_view::npos) {
    document.erase(key);
    return;
  }
  if (json::value* value = document.if_contains(key); value && value->is_object())
    remove(value->get_object(), path.substr(dot + 1));
}

void put(json::object& document, std::string_view path, const json::value& value) {
  const std::size_t dot = path.find('.');
  json::value& at = document[path.substr(0, dot)];
  if (dot == std::string_view::npos) {
    at = value;
    return;
  }
  if (!at.is_object()) at = json::object{};
  put(at.get_object(), path.substr(dot + 1), value);
}

// The document without what a change may differ in. A static field below one of another class
// stays. `workerManager` and `workerConfig` are muster's own and never make a worker outdated.
json::object static_part(const json::object& document, const FieldClasses& classes) {
  json::object rest = document;
  for (const auto* paths : {&classes.dynamic_fields, &classes.behavioural_fields})
    for (const std::string& path : *paths) remove(rest, path);
  for (const std::string& path : classes.static_fields)
    if (const json::value* value = find(document, path); value && !find(rest, path))
      put(rest, path, *value);
  rest.erase("workerManager");
  rest.erase("workerConfig");
  return rest;
}

// A document that comes from the store spells 2.0 as 2.
bool same(const json::value& a, const json::value& b) {
  return a == b || json::canonical(a) == json::canonical(b);
}

bool equal(const json::value* a, const json::value* b) {
  return a && b ? same(*a, *b) : a == b;
}

// The path of the first difference, "aws.ImageId".
std::string first_difference(const json::value& a, const json::value& b, const std::string& path) {
  const json::object* left = a.if_object();
  const json::object* right = b.if_object();
  if (!left || !right) return path;
  const auto below = [&](std::string_view key) {
    return (path.empty() ? "" : path + ".") + std::string(key);
  };
  for (const auto& [key, value] : *left) {
    const json::value* other = right->if_contains(key);
    if (!other) return below(key);
    if (!same(*other, value)) return first_difference(value, *other, below(key));
  }
  for (const auto& [key, value] : *right)
    if (!left->contains(key)) return below(key);
  return path;
}

}  // namespace

std::optional<std::string> why_outdated(const LaunchConfig& launched,
                                        std::span<const LaunchConfig* const> current,
                                        const FieldClasses& classes) {
  const json::value wanted = static_part(launched.document, classes);
  const LaunchConfig* sibling = nullptr;  // of the same place, to name a difference
  std::vector<const LaunchConfig*> alike;
  for (const LaunchConfig* candidate : current) {
    if (candidate->placement != launched.placement) continue;
    if (!sibling || candidate->instance_type == launched.instance_type) sibling = candidate;
    if (same(static_part(candidate->document, classes), wanted)) alike.push_back(candidate);
  }
  if (!sibling) return "nothing is launched any more where it runs";
  if (alike.empty())
    return "`" + first_difference(wanted, static_part(sibling->document, classes), "") +
           "` of its launch configuration has changed";
  for (const std::string& path : classes.dynamic_fields) {
    const json::value* own = find(launched.document, path);
    const bool still_there = std::ranges::any_of(alike, [&](const LaunchConfig* candidate) {
      return equal(find(candidate->document, path), own);
    });
    if (!still_there)
      return "its value of `" + path + "` is no longer among those that are launched";
  }
  return std::nullopt;
}

}  // namespace muster::lifecycle
