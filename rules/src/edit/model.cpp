#include "model.hpp"

#include <muster/rules/limits.hpp>
#include <muster/rules/toml_nesting.hpp>

#include "../source_text.hpp"

namespace muster::rules::syntax {
namespace {

// What the TOML parser must not even see, in the words of the parser that reads whole documents.
std::optional<Error> unfit(std::string_view text) {
  const Limits limits;
  const auto problems = check_text(text, "", limits);
  if (has_errors(problems))
    return Error::config("The file is not TOML: " + to_string(problems.front()));
  if (const auto deep = find_deep_nesting(text, limits.max_nesting))
    return Error::config("The file nests too deeply in line " + std::to_string(deep->line) + ".");
  return std::nullopt;
}

// Down one step; null if there is nothing.
toml::node* child(toml::node& node, const Step& step) {
  if (const auto* key = std::get_if<std::string>(&step))
    return node.is_table() ? node.as_table()->get(*key) : nullptr;
  return node.is_array() ? node.as_array()->get(std::get<std::size_t>(step)) : nullptr;
}

toml::node* find_mutable(toml::table& root, const Address& address, std::size_t length) {
  toml::node* node = &root;
  for (std::size_t i = 0; node && i < length; ++i) node = child(*node, address[i]);
  return node;
}

}  // namespace

Result<toml::table> parse_model(std::string_view text) {
  if (auto error = unfit(text)) return *error;
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    return Error::config("The file is not TOML: line " + std::to_string(error.source().begin.line) +
                         ": " + std::string(error.description()) + ".");
  }
}

Result<toml::table> parse_one_value(std::string_view value) {
  // One line, so that a value cannot bring further keys along.
  if (value.find('\n') != std::string_view::npos || value.find('\r') != std::string_view::npos)
    return Error::invalid("A value must be on one line.");
  const std::string text = "value = " + std::string(value) + "\n";
  auto table = parse_model(text);
  if (!table) return Error::invalid("`" + std::string(value) + "` is not a TOML value.");
  const auto document = scan(text);
  if (!document || document->sections.front().entries.size() != 1 ||
      document->sections.front().entries.front().end() != text.size() - 1)
    return Error::invalid("`" + std::string(value) + "` is more than a TOML value.");
  return table;
}

const toml::node* find_node(const toml::table& root, const Address& address) {
  return find_mutable(const_cast<toml::table&>(root), address, address.size());
}

bool set_node(toml::table& root, const Address& address, const toml::node& value) {
  toml::node* node = &root;
  for (std::size_t i = 0; i + 1 < address.size(); ++i) {
    auto* next = child(*node, address[i]);
    if (!next && node->is_table() && std::holds_alternative<std::string>(address[i])) {
      node->as_table()->insert(std::get<std::string>(address[i]), toml::table{});
      next = child(*node, address[i]);
    }
    if (!next) return false;
    node = next;
  }
  return value.visit([&](const auto& typed) {
    if (const auto* key = std::get_if<std::string>(&address.back())) {
      if (!node->is_table()) return false;
      node->as_table()->insert_or_assign(*key, typed);
      return true;
    }
    const auto index = std::get<std::size_t>(address.back());
    if (!node->is_array() || index >= node->as_array()->size()) return false;
    auto& array = *node->as_array();
    array.replace(array.cbegin() + static_cast<std::ptrdiff_t>(index), typed);
    return true;
  });
}

void erase_node(toml::table& root, const Address& address) {
  auto* parent = find_mutable(root, address, address.size() - 1);
  if (!parent) return;
  if (const auto* key = std::get_if<std::string>(&address.back())) {
    if (parent->is_table()) parent->as_table()->erase(*key);
  } else if (parent->is_array()) {
    auto& array = *parent->as_array();
    const auto index = std::get<std::size_t>(address.back());
    if (index < array.size()) array.erase(array.cbegin() + static_cast<std::ptrdiff_t>(index));
  }
}

void insert_element(toml::array& array, std::size_t index, const toml::node& value) {
  value.visit([&](const auto& typed) {
    array.insert(array.cbegin() + static_cast<std::ptrdiff_t>(index), typed);
  });
}

}  // namespace muster::rules::syntax
