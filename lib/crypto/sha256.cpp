#include "lib/crypto/sha256.hpp"

#include <charconv>

#include <openssl/crypto.h>
#include <openssl/sha.h>

namespace muster {

Sha256 sha256(std::string_view bytes) {
  Sha256 digest{};
  ::SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return digest;
}

std::string to_hex(const Sha256& digest) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  return to_hex(sha256(bytes));
}

std::optional<Sha256> sha256_from_hex(std::string_view hex) {
  Sha256 digest{};
  if (hex.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const char* from = hex.data() + 2 * i;
    const auto [end, wrong] = std::from_chars(from, from + 2, digest[i], 16);
    if (wrong != std::errc() || end != from + 2) return std::nullopt;
  }
  return digest;
}

bool equal_in_constant_time(const Sha256& a, const Sha256& b) {
  return ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace muster
