#include "lib/toml/toml_document.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>

#include <toml++/toml.h>

#include "lib/toml/toml_text.hpp"

namespace muster::config {
namespace {

Position begin_of(const toml::source_region& region) {
  return {std::max<std::uint32_t>(1, region.begin.line),
          std::max<std::uint32_t>(1, region.begin.column)};
}

class Converter {
 public:
  TomlDocument document;
  std::optional<Mistake> mistake;

  json::object convert(const toml::table& table, const std::string& pointer) {
    json::object members;
    for (const auto& [key, node] : table) {
      const std::string here = pointer + "/" + pointer_part(key.str());
      document.keys[here] = begin_of(key.source());
      document.values[here] = begin_of(node.source());
      members[std::string(key.str())] = convert(node, here);
    }
    return members;
  }

 private:
  json::value convert(const toml::node& node, const std::string& pointer) {
    if (const auto* table = node.as_table()) return convert(*table, pointer);
    if (const auto* array = node.as_array()) {
      json::array items;
      for (const auto& item : *array) {
        const std::string here = pointer + "/" + std::to_string(items.size());
        document.keys[here] = document.values[here] = begin_of(item.source());
        items.push_back(convert(item, here));
      }
      return items;
    }
    if (const auto* text = node.as_string()) return json::value(json::string(text->get()));
    if (const auto* integer = node.as_integer()) return integer->get();
    if (const auto* truth = node.as_boolean()) return truth->get();
    if (const auto* number = node.as_floating_point()) {
      if (!std::isfinite(number->get())) not_a_number(node, pointer);
      return number->get();
    }
    std::ostringstream text;
    if (const auto* date = node.as_date()) text << *date;
    if (const auto* time = node.as_time()) text << *time;
    if (const auto* date_time = node.as_date_time()) text << *date_time;
    return json::value(json::string(text.str()));
  }

  void not_a_number(const toml::node& node, const std::string& pointer) {
    if (mistake) return;
    mistake = Mistake{Severity::error, begin_of(node.source()), pointer,
                      "nan and inf cannot be passed to a plugin as JSON", "write a finite number"};
  }
};

Position look_up(const std::map<std::string, Position, std::less<>>& places,
                 std::string_view pointer) {
  for (;;) {
    if (const auto found = places.find(pointer); found != places.end()) return found->second;
    const auto slash = pointer.rfind('/');
    if (slash == std::string_view::npos || slash == 0) return {};
    pointer = pointer.substr(0, slash);
  }
}

bool is_bare_key(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-';
  });
}

}  // namespace

Position TomlDocument::key_position(std::string_view pointer) const {
  return look_up(keys, pointer);
}

Position TomlDocument::value_position(std::string_view pointer) const {
  return look_up(values, pointer);
}

boost::variant2::variant<TomlDocument, Mistake> parse_toml(std::string_view text) {
  if (auto refused = refuse_dangerous_text(text)) return *refused;
  try {
    const toml::table table = toml::parse(text);
    Converter converter;
    converter.document.root = converter.convert(table, "");
    if (converter.mistake) {
      converter.mistake->key = key_path(converter.document.root, converter.mistake->key);
      return *converter.mistake;
    }
    return std::move(converter.document);
  } catch (const toml::parse_error& error) {
    return Mistake{Severity::error, begin_of(error.source()), "",
                   "this is not TOML: " + std::string(error.description()),
                   "nothing after this place was read"};
  }
}

std::string pointer_part(std::string_view key) {
  std::string part;
  for (const char c : key) {
    if (c == '~')
      part += "~0";
    else if (c == '/')
      part += "~1";
    else
      part += c;
  }
  return part;
}

std::vector<std::string> pointer_parts(std::string_view pointer) {
  std::vector<std::string> parts;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);  // the slash
    const auto end = std::min(pointer.find('/'), pointer.size());
    std::string part;
    for (std::size_t i = 0; i < end; ++i) {
      const bool escaped = pointer[i] == '~' && i + 1 < end;
      part += escaped ? (pointer[++i] == '1' ? '/' : '~') : pointer[i];
    }
    parts.push_back(std::move(part));
    pointer.remove_prefix(end);
  }
  return parts;
}

std::string key_path(const json::object& root, std::string_view pointer) {
  std::string path;
  json::value whole = root;
  const json::value* here = &whole;
  for (const std::string& part : pointer_parts(pointer)) {
    if (here && here->is_array()) {
      path += "[" + part + "]";
      const std::size_t index = std::strtoul(part.c_str(), nullptr, 10);
      here = here->get_array().if_contains(index);
      continue;
    }
    if (!path.empty()) path += '.';
    path += is_bare_key(part) ? part : json::write(json::value(json::string(part)));
    here = here && here->is_object() ? here->get_object().if_contains(part) : nullptr;
  }
  return path;
}

}  // namespace muster::config
