// A simulation as one page of HTML, with the plots of the dashboard. Complete in itself.
#pragma once

#include <string>
#include <string_view>

#include <muster/json.hpp>

namespace muster::cli {

// The page without its document. Made by web/build.mjs.
std::string_view simulation_template();

// `document` is what --json prints. The same document gives the same bytes.
std::string html_page(const json::object& document);

}  // namespace muster::cli
