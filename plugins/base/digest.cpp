#include "plugins/base/digest.hpp"

#include "lib/crypto/sha256.hpp"

namespace muster {

bool is_digest_of(std::string_view digest, std::string_view secret) {
  const auto kept = sha256_from_hex(digest);
  return kept && equal_in_constant_time(*kept, sha256(secret));
}

}  // namespace muster
