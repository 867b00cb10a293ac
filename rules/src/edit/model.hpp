// Edits of the parsed document: what an edited text must come to. Kept apart from the edits of the
// text, so that each is a check on the other.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include <muster/error.hpp>

#include "syntax.hpp"
#include "toml_fwd.hpp"

namespace muster::rules::syntax {

// Parses TOML; bytes that toml++ does not survive are refused first.
Result<toml::table> parse_model(std::string_view text);

// One TOML value on one line, as {value = ...}. Nothing else may stand beside it.
Result<toml::table> parse_one_value(std::string_view value);

const toml::node* find_node(const toml::table& root, const Address& address);

// Makes the tables on the way. False if something that is no table is in the way.
bool set_node(toml::table& root, const Address& address, const toml::node& value);

void erase_node(toml::table& root, const Address& address);

void insert_element(toml::array& array, std::size_t index, const toml::node& value);

}  // namespace muster::rules::syntax
