// HMAC-SHA256.
#pragma once

#include <string_view>

#include "lib/crypto/sha256.hpp"

namespace muster {

Sha256 hmac_sha256(std::string_view key, std::string_view text);

}  // namespace muster
