// Documents as HTML that may stand in a page of the dashboard: no raw HTML of theirs, no scripts,
// no styles, no addresses but those of links.hpp.
//
// THREADS: any.
#pragma once

#include <chrono>
#include <string>

#include "host/documentation/links.hpp"
#include "host/documentation/markdown.hpp"

namespace muster::documentation {

inline constexpr std::chrono::milliseconds rendering_time{500};

// In the order of merged_markdown(). A page that begins after the time has passed is shown as it
// was written: some texts take the square of their size, and a reader must not keep a thread for
// long. `general_addresses` is where the files of the worker configuration are.
std::string rendered_html(const Hierarchy* own, const Hierarchy* general,
                          const std::string& general_addresses,
                          std::chrono::milliseconds time = rendering_time);

}  // namespace muster::documentation
