// zlib, kept out of other files.
#pragma once

#include <string>
#include <string_view>

namespace muster::http {

// At the cheapest level. Empty if there is no memory for it. THREADS: any.
std::string gzip(std::string_view text);

}  // namespace muster::http
