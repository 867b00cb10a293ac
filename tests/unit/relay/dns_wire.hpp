// Writes DNS messages byte by byte, good ones and bad ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::relay {

class Wire {
 public:
  Wire(unsigned flags, unsigned questions, unsigned answers, unsigned authorities = 0) {
    u16(0x1234).u16(flags).u16(questions).u16(answers).u16(authorities).u16(0);
  }
  Wire& u8(unsigned value) {
    bytes_.push_back(static_cast<unsigned char>(value));
    return *this;
  }
  Wire& u16(unsigned value) { return u8(value >> 8 & 0xff).u8(value & 0xff); }
  Wire& u32(std::uint32_t value) { return u16(value >> 16).u16(value & 0xffff); }
  Wire& label(std::string_view text) {
    u8(static_cast<unsigned>(text.size()));
    for (const char c : text) u8(static_cast<unsigned char>(c));
    return *this;
  }
  // Labels between dots; the text may hold no escapes.
  Wire& name(std::string_view text) {
    while (!text.empty()) {
      const auto dot = std::min(text.find('.'), text.size());
      label(text.substr(0, dot));
      text.remove_prefix(std::min(dot + 1, text.size()));
    }
    return u8(0);
  }
  Wire& pointer(std::size_t to) { return u16(0xc000u | static_cast<unsigned>(to)); }
  Wire& question(std::string_view text, unsigned type) { return name(text).u16(type).u16(1); }
  // Up to the length of what it holds.
  Wire& record(std::string_view owner, unsigned type, std::uint32_t ttl) {
    return name(owner).u16(type).u16(1).u32(ttl);
  }
  Wire& holds(const Wire& content) {
    u16(static_cast<unsigned>(content.bytes_.size()));
    bytes_.insert(bytes_.end(), content.bytes_.begin(), content.bytes_.end());
    return *this;
  }
  static Wire nothing() {
    Wire wire(0, 0, 0);
    wire.bytes_.clear();
    return wire;
  }

  const std::vector<unsigned char>& bytes() const { return bytes_; }
  std::vector<unsigned char>& bytes() { return bytes_; }

 private:
  std::vector<unsigned char> bytes_;
};

}  // namespace muster::relay
