// The documents of a worker type and of its worker configuration as one text.
//
// Pure functions. THREADS: any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/documentation/hierarchy.hpp"

namespace muster::documentation {

inline constexpr std::string_view general_heading = "General Worker Configuration Documentation";

// A Markdown file without its front matter; a title of that is its first heading.
struct Page {
  std::string path;
  std::string text;
};

// README.md, then docs/** by the `order` of their front matter and then by their paths.
std::vector<Page> pages_of(const Hierarchy& hierarchy);

// The type's own pages, then `# General Worker Configuration Documentation` and the pages of its
// worker configuration. Either may be null.
std::string merged_markdown(const Hierarchy* own, const Hierarchy* general);

}  // namespace muster::documentation
