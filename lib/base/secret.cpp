#include "lib/base/secret.hpp"

#include <stdexcept>
#include <sys/random.h>

namespace muster {

Secret random_token() {
  static constexpr char alphabet[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  unsigned char bytes[43];  // 6 bits of each are used
  if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes))
    throw std::runtime_error("the kernel gave no random bytes");
  std::string text;
  for (const unsigned char byte : bytes) text += alphabet[byte & 63];
  return Secret(std::move(text));
}

}  // namespace muster
