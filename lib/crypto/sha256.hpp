// SHA-256, as bytes and in hexadecimal.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

using Sha256 = std::array<unsigned char, 32>;

Sha256 sha256(std::string_view bytes);
// 64 small hexadecimal digits.
std::string to_hex(const Sha256& digest);
std::string sha256_hex(std::string_view bytes);
// Nothing if the text is anything but 64 hexadecimal digits.
std::optional<Sha256> sha256_from_hex(std::string_view hex);

// Takes the same time wherever the two differ.
bool equal_in_constant_time(const Sha256& a, const Sha256& b);

}  // namespace muster
