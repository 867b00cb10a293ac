// toml++ stops at the first syntax error; people want to see all of them at once.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <toml++/toml.h>

#include <muster/rules/limits.hpp>
#include <muster/rules/problem.hpp>

namespace muster::rules {

struct RecoveredToml {
  // What could be read. Absent if what had to be skipped changes the meaning of the rest.
  std::optional<toml::table> table;
  Problems problems;  // one for each place that could not be read
};

// Parses; on an error blanks out the statement that holds it and parses again, a few times. The
// text must have passed check_text and find_deep_nesting.
RecoveredToml parse_with_recovery(std::string_view text, const std::string& file,
                                  const Limits& limits);

}  // namespace muster::rules
