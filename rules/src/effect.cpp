#include "effect.hpp"

#include <algorithm>

#include <muster/rules/content_hash.hpp>

namespace muster::rules {
namespace {

void append_text(std::string& out, std::string_view text) {
  (out += std::to_string(text.size())) += ':';
  out += text;
}

// Unlike JSON's text this tells 1 from 1.0 and keeps the order of keys.
void append_exact(std::string& out, const json::value& value) {
  if (const auto* object = value.if_object()) {
    out += '{';
    for (const auto& [key, member] : *object) append_text(out, key), append_exact(out, member);
    out += '}';
  } else if (const auto* array = value.if_array()) {
    out += '[';
    for (const json::value& item : *array) append_exact(out, item);
    out += ']';
  } else {
    out += static_cast<char>('a' + static_cast<int>(value.kind()));
    append_text(out, json::write(value));
  }
}

}  // namespace

std::shared_ptr<const Effect> EffectTable::intern(const Rule& rule) {
  Effect effect;
  std::string text;
  for (const Unset& unset : rule.unset) {
    effect.unset.push_back(unset.path);
    append_text(text, format_path(unset.path));
  }
  effect.values = std::move(to_json(rule.values).get_object());
  append_exact(text, effect.values);
  auto& place = effects_[text.size() > 64 ? sha256_hex(text) : text];
  if (auto known = place.lock()) return known;
  auto created = std::make_shared<const Effect>(std::move(effect));
  place = created;
  if (effects_.size() >= sweep_at_) sweep();
  return created;
}

void EffectTable::sweep() {
  std::erase_if(effects_, [](const auto& entry) { return entry.second.expired(); });
  sweep_at_ = std::max<std::size_t>(1024, 2 * effects_.size());
}

}  // namespace muster::rules
