// Documents as HTML that may stand in a page of the dashboard: no raw HTML of theirs, no scripts,
// no styles, no addresses but those of links.hpp.
//
// Pure functions. THREADS: any. They take as long as the documents are large.
#pragma once

#include <string>

#include "host/documentation/links.hpp"
#include "host/documentation/markdown.hpp"

namespace muster::documentation {

// The tarball's pages, one <section> each.
std::string rendered_pages(const Hierarchy& hierarchy, const LinkBase& base);

// In the order of merged_markdown(). `general_addresses` is where the files of the worker
// configuration are.
std::string rendered_html(const Hierarchy* own, const Hierarchy* general,
                          const std::string& general_addresses);

}  // namespace muster::documentation
