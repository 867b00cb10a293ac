#include "cli/simulate/html_page.hpp"

namespace muster::cli {

// No text of the document can end the script that holds it.
std::string html_page(const json::object& document) {
  constexpr std::string_view mark = "@simulation@";
  const std::string_view page = simulation_template();
  const auto place = page.find(mark);
  std::string text(page.substr(0, place));
  for (const char c : json::write(document))
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  text += page.substr(place + mark.size());
  return text;
}

}  // namespace muster::cli
