#include "assign.hpp"

namespace muster::rules {

void deep_assign(json::object& target, const json::object& values) {
  for (const auto& [key, value] : values) {
    if (value.is_null()) {
      target.stable_erase(key);
      continue;
    }
    if (!value.is_object()) {
      target.insert_or_assign(key, value);
      continue;
    }
    json::value& place = target[key];
    if (!place.is_object()) place.emplace_object();
    deep_assign(place.get_object(), value.get_object());
  }
}

void unset_path(json::object& target, const Path& path) {
  json::object* table = &target;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    json::value* next = table->if_contains(path[i]);
    if (!next || !next->is_object()) return;
    table = &next->get_object();
  }
  table->stable_erase(path.back());
}

}  // namespace muster::rules
