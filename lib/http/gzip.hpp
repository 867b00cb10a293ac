// zlib, kept out of other files.
#pragma once

#include <string>
#include <string_view>

namespace muster::http {

// At the cheapest level. Empty if there is no memory for it. THREADS: any.
std::string gzip(std::string_view text);

// Only for what this program has compressed itself: the result's length is not bounded. Empty if it
// is broken. THREADS: any.
std::string gunzip(std::string_view compressed);

}  // namespace muster::http
