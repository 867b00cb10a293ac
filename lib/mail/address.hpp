// Mail addresses that come from outside. Only plain ones are taken, so that none can add a header,
// a recipient or a command to a conversation.
#pragma once

#include <string_view>

namespace muster::mail {

// "team@example.com": ASCII without spaces, quotes, brackets, commas and control characters, one @,
// at most 64 bytes before it and 254 in all, and a domain of letters, digits, dots and dashes.
bool is_address(std::string_view text);

// Behind the @. Only of what is_address() takes.
std::string_view domain_of(std::string_view address);

}  // namespace muster::mail
