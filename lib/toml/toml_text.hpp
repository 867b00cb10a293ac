// What must be known of a text before the TOML parser may see it.
#pragma once

#include <optional>
#include <string_view>

#include "lib/toml/mistake.hpp"

namespace muster::config {

constexpr std::size_t max_toml_bytes = 1024 * 1024;
constexpr std::size_t max_toml_depth = 32;  // brackets within brackets and parts of dotted keys

// The parser reads past its tables on bytes that are no UTF-8 or control characters, and recurses
// as deep as the text says. Finds the first such place.
std::optional<Mistake> refuse_dangerous_text(std::string_view text);

}  // namespace muster::config
