// What a local worker proves who it is with: a secret that only it and the host's machine have
// seen.
#pragma once

#include <string>
#include <string_view>

#include <muster/error.hpp>

namespace muster::local {

std::string sha256_hex(std::string_view text);

// 264 bits from the kernel, as 44 letters that need no quoting anywhere.
Result<std::string> random_secret();

// Takes the same time wherever the two differ.
bool is_digest_of(std::string_view digest, std::string_view secret);

}  // namespace muster::local
