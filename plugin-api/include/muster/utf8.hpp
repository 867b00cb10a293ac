// UTF-8 in texts that come from outside. Pure functions. THREADS: any.
#pragma once

#include <string>
#include <string_view>

namespace muster {

// Well formed: no overlong forms, no surrogates, nothing beyond U+10FFFF.
bool is_utf8(std::string_view bytes);

// Bytes that are no UTF-8 become U+FFFD.
std::string valid_utf8(std::string_view bytes);

// Well formed, and without control characters: nothing below U+0020, and not U+007F to U+009F.
bool is_plain_text(std::string_view bytes);

}  // namespace muster
