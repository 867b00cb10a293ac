#include "lib/ssh/wire.hpp"

namespace muster::ssh {
namespace {

constexpr std::string_view base64_letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::optional<std::uint32_t> WireReader::number() {
  if (failed_ || rest_.size() < 4) return failed_ = true, std::nullopt;
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(rest_[i]);
  rest_.remove_prefix(4);
  return value;
}

std::optional<std::string_view> WireReader::text() {
  const auto length = number();
  if (!length || *length > rest_.size()) return failed_ = true, std::nullopt;
  const std::string_view bytes = rest_.substr(0, *length);
  rest_.remove_prefix(*length);
  return bytes;
}

std::optional<std::string_view> WireReader::positive() {
  const auto bytes = text();
  if (!bytes || bytes->empty()) return failed_ = true, std::nullopt;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>((*bytes)[i]); };
  if (byte(0) >= 0x80) return failed_ = true, std::nullopt;  // negative
  if (byte(0) != 0) return bytes;
  if (bytes->size() == 1 || byte(1) < 0x80) return failed_ = true, std::nullopt;
  return bytes->substr(1);
}

bool WireReader::skip(std::string_view expected) {
  if (failed_ || !rest_.starts_with(expected)) return failed_ = true, false;
  rest_.remove_prefix(expected.size());
  return true;
}

std::string wire_text(std::string_view bytes) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8)
    text += static_cast<char>(bytes.size() >> shift & 0xff);
  return text.append(bytes);
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 == 0)
    for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char letter : text) {
    const auto value = base64_letters.find(letter);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  if (count == 6 || (bits & ((1u << count) - 1)) != 0) return std::nullopt;
  return bytes;
}

std::string to_bare_base64(std::string_view bytes) {
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(byte);
    for (count += 8; count >= 6; count -= 6) text += base64_letters[bits >> (count - 6) & 63];
  }
  if (count > 0) text += base64_letters[bits << (6 - count) & 63];
  return text;
}

}  // namespace muster::ssh
