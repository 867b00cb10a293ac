#include "lib/crypto/sha256_digits.hpp"

#include <cstdint>

#include "lib/crypto/sha256.hpp"

namespace muster {

std::string sha256_digits(std::string_view bytes) {
  constexpr std::uint64_t numbers = 10'000'000'000;
  const Sha256 digest = sha256(bytes);
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) number = number << 8 | digest[i];
  const std::string digits = std::to_string(number % numbers);
  return std::string(10 - digits.size(), '0') + digits;
}

}  // namespace muster
