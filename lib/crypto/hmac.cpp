#include "lib/crypto/hmac.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace muster {

Sha256 hmac_sha256(std::string_view key, std::string_view text) {
  Sha256 digest{};
  unsigned length = 0;
  ::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &length);
  return digest;
}

}  // namespace muster
