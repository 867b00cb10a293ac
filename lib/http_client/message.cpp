#include "lib/http_client/message.hpp"

#include <algorithm>
#include <strings.h>

namespace muster::http_client {

std::string_view Response::header(std::string_view name) const {
  for (const Header& header : headers)
    if (header.name.size() == name.size() &&
        ::strncasecmp(header.name.data(), name.data(), name.size()) == 0)
      return header.value;
  return {};
}

std::string mistake_in_header(const Header& header) {
  static constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  const bool is_name = !header.name.empty() && std::ranges::all_of(header.name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           marks.find(c) != marks.npos;
  });
  if (!is_name) return "a header has a name that HTTP does not allow";
  const bool has_control = std::ranges::any_of(header.value, [](char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f';
  });
  // The value may be a secret, so it is not repeated.
  return has_control ? "the header " + header.name + " has a line end or a control character in it"
                     : "";
}

}  // namespace muster::http_client
