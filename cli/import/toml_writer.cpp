#include "cli/import/toml_writer.hpp"

#include <muster/rules/edit.hpp>

namespace muster::importing {
namespace {

constexpr std::size_t longest_table = 60, longest_line = 120;

std::string key_text(std::string_view key) {
  return rules::format_path({std::string(key)});
}

// An array may go over several lines, a table in it may not.
Result<std::string> value_text(const json::value& value, std::size_t used) {
  auto text = rules::to_toml(value);
  if (!text || !value.is_array() || used + text->size() <= longest_line) return text;
  std::string lines = "[\n";
  for (const json::value& item : value.get_array()) {
    const auto one = rules::to_toml(item);
    if (!one) return one.error();
    lines += "  " + *one + ",\n";
  }
  return lines + "]";
}

// Whether it needs no header of its own.
bool fits_a_line(const json::value& value) {
  if (!value.is_object() || value.get_object().empty()) return true;
  const auto text = rules::to_toml(value);
  return text && text->size() <= longest_table;
}

}  // namespace

Result<std::string> toml_table(const rules::Path& path, const json::object& table) {
  std::string own, below;
  for (const auto& [key, value] : table) {
    if (fits_a_line(value)) {
      const std::string name = key_text(key);
      const auto text = value_text(value, name.size() + 3);
      if (!text) return text.error();
      own += name + " = " + *text + "\n";
      continue;
    }
    rules::Path deeper = path;
    deeper.emplace_back(key);
    const auto text = toml_table(deeper, value.get_object());
    if (!text) return text.error();
    below += *text;
  }
  if (own.empty() && !below.empty()) return below;
  return "[" + rules::format_path(path) + "]\n" + own + below;
}

}  // namespace muster::importing
