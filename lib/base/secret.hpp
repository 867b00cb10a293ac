// Secrets: text that cannot be printed by accident, random tokens, and comparison that tells nobody
// how close a guess was.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

// A text that has no operator<< and no conversion: whoever needs it says reveal(), which review can
// find.
class Secret {
 public:
  explicit Secret(std::string text) : text_(std::move(text)) {}
  const std::string& reveal() const { return text_; }

 private:
  std::string text_;
};

using Sha256 = std::array<unsigned char, 32>;

Sha256 sha256(std::string_view bytes);
std::string to_hex(const Sha256& digest);
// Nothing if the text is anything but 64 hexadecimal digits.
std::optional<Sha256> sha256_from_hex(std::string_view hex);

// 256 bits from the kernel, as 43 characters that need no quoting anywhere.
Secret random_token();

// Takes the same time wherever the two differ.
bool equal_in_constant_time(const Sha256& a, const Sha256& b);

}  // namespace muster
