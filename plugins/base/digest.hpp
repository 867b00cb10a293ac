// Digests of secrets: what is kept in their place.
#pragma once

#include <string_view>

namespace muster {

// Takes the same time wherever the two differ.
bool is_digest_of(std::string_view sha256_in_hex, std::string_view secret);

}  // namespace muster
