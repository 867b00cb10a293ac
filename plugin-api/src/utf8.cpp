#include <algorithm>
#include <cstddef>

#include <muster/utf8.hpp>

namespace muster {
namespace {

// Length of the well-formed UTF-8 sequence at the front, 0 if there is none.
std::size_t sequence_length(std::string_view bytes) {
  const auto at = [&](std::size_t i) {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u;
  };
  const unsigned lead = at(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((at(i) & 0xc0) != 0x80) return 0;
  const unsigned second = at(1);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool surrogate = lead == 0xed && second > 0x9f;
  const bool too_large = lead == 0xf4 && second > 0x8f;
  return overlong || surrogate || too_large ? 0 : length;
}

// The first byte that is not part of plain ASCII.
std::size_t ascii_length(std::string_view bytes) {
  const auto other =
      std::find_if(bytes.begin(), bytes.end(), [](char c) { return (c & 0x80) != 0; });
  return static_cast<std::size_t>(other - bytes.begin());
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  for (;;) {
    bytes.remove_prefix(ascii_length(bytes));
    if (bytes.empty()) return true;
    const std::size_t length = sequence_length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
}

std::string valid_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = sequence_length(bytes);
    if (length == 0)
      text += "\xef\xbf\xbd";
    else
      text += bytes.substr(0, length);
    bytes.remove_prefix(std::max<std::size_t>(1, length));
  }
  return text;
}

bool is_plain_text(std::string_view bytes) {
  if (!is_utf8(bytes)) return false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (byte < 0x20 || byte == 0x7f) return false;
    // U+0080 to U+009F are C2 80 to C2 9F.
    if (byte == 0xc2 && static_cast<unsigned char>(bytes[i + 1]) < 0xa0) return false;
  }
  return true;
}

}  // namespace muster
