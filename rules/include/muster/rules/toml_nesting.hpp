// The TOML parser and what it builds recurse; this looks for texts that would recurse too far, in
// one pass and without recursion, before the parser sees them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include <muster/rules/problem.hpp>

namespace muster::rules {

// Where brackets and dotted keys first nest deeper than the limit.
std::optional<Position> find_deep_nesting(std::string_view text, std::size_t limit);

}  // namespace muster::rules
