// The little that we need of UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster::rules {

// Reads the code point at `offset` and moves `offset` behind it. A byte that is not part of valid
// UTF-8 (truncated, overlong, surrogate, too large) is read alone, as 0xDC00 + byte.
inline char32_t next_code_point(std::string_view text, std::size_t& offset) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(offset);
  if (lead < 0x80) return ++offset, lead;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  const char32_t alone = 0xDC00u + lead;
  if (lead < 0xC2 || lead > 0xF4 || offset + length > text.size()) return ++offset, alone;
  char32_t point = lead & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(offset + i) & 0xC0u) != 0x80) return ++offset, alone;
    point = point << 6 | (byte(offset + i) & 0x3Fu);
  }
  const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  if (overlong || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return ++offset, alone;
  offset += length;
  return point;
}

inline bool is_invalid_byte(char32_t point) {
  return point >= 0xDC00 && point <= 0xDCFF;
}

inline void append_utf8(std::string& out, char32_t point) {
  const auto put = [&](char32_t byte) {
    out += static_cast<char>(static_cast<unsigned char>(byte));
  };
  if (point < 0x80) return put(point);
  if (point < 0x800) return put(0xC0 | point >> 6), put(0x80 | (point & 0x3F));
  if (point < 0x10000)
    return put(0xE0 | point >> 12), put(0x80 | (point >> 6 & 0x3F)), put(0x80 | (point & 0x3F));
  put(0xF0 | point >> 18), put(0x80 | (point >> 12 & 0x3F)), put(0x80 | (point >> 6 & 0x3F)),
      put(0x80 | (point & 0x3F));
}

}  // namespace muster::rules
