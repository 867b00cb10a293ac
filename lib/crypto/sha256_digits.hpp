// SHA-256 for those who take nothing longer than ten digits: the nonce of an attested document.
#pragma once

#include <string>
#include <string_view>

namespace muster {

// Ten decimal digits, always.
std::string sha256_digits(std::string_view bytes);

}  // namespace muster
