#include "plugins/base/digest.hpp"

#include <array>

#include <openssl/crypto.h>
#include <openssl/sha.h>

namespace muster {

std::string sha256_hex(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  static constexpr char digits[] = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : digest) {
    hex += digits[byte >> 4];
    hex += digits[byte & 15];
  }
  return hex;
}

bool is_digest_of(std::string_view digest, std::string_view secret) {
  const std::string given = sha256_hex(secret);
  return digest.size() == given.size() &&
         ::CRYPTO_memcmp(digest.data(), given.data(), given.size()) == 0;
}

}  // namespace muster
