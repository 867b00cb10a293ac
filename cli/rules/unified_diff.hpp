// The difference of two texts as `diff -u` and git show it.
#pragma once

#include <string>
#include <string_view>

#include "cli/terminal.hpp"

namespace muster::cli {

// Empty if the texts are the same. Applies with `patch` and `git apply`.
std::string unified_diff(std::string_view before, std::string_view after, const std::string& file,
                         const Style& style);

// How many lines come and go.
struct LineCounts {
  std::size_t removed = 0, added = 0;
};
LineCounts count_changes(std::string_view before, std::string_view after);

}  // namespace muster::cli
