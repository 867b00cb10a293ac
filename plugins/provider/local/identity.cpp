#include "plugins/provider/local/identity.hpp"

#include <array>

#include <openssl/rand.h>

namespace muster::local {

Result<std::string> random_secret() {
  static constexpr char letters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::array<unsigned char, 44> bytes{};
  if (::RAND_bytes(bytes.data(), bytes.size()) != 1)
    return Error::transient("no random bytes can be had for a worker's secret");
  std::string secret;
  for (const unsigned char byte : bytes) secret += letters[byte & 63];
  return secret;
}

}  // namespace muster::local
