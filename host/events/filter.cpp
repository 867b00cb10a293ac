#include "host/events/filter.hpp"

#include <algorithm>

namespace muster::events {
namespace {

bool fits(std::string_view pattern, std::string_view kind) {
  if (pattern.ends_with('*')) return kind.starts_with(pattern.substr(0, pattern.size() - 1));
  return kind == pattern;
}

bool same(const std::string& wanted, const std::string& is) {
  return wanted.empty() || wanted == is;
}

}  // namespace

bool Filter::passes_all() const {
  return kinds.empty() && worker_pool_id.empty() && provider_id.empty() &&
         launch_config_id.empty() && worker_id.empty();
}

bool Filter::passes(const Event& event) const {
  return same(worker_pool_id, event.worker_pool_id.str()) &&
         same(provider_id, event.provider_id.str()) &&
         same(launch_config_id, event.launch_config_id.str()) &&
         same(worker_id, event.worker_id.str()) &&
         (kinds.empty() || std::any_of(kinds.begin(), kinds.end(), [&](const std::string& kind) {
            return fits(kind, event.kind);
          }));
}

bool is_kind_pattern(std::string_view text) {
  if (text.ends_with('*'))
    text.remove_suffix(1);
  else if (text.empty())
    return false;
  return text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

}  // namespace muster::events
