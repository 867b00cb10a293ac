// A task id of up to 38 letters, digits, - and _ in 30 bytes, whatever it says: a million of them
// are in memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::worker_state {

class PackedTaskId {
 public:
  static constexpr std::size_t longest = 38;

  static std::optional<PackedTaskId> pack(std::string_view text) {
    if (text.empty() || text.size() > longest) return std::nullopt;
    PackedTaskId packed;
    packed.length_ = static_cast<std::uint8_t>(text.size());
    std::size_t bit = 0;
    for (const char letter : text) {
      const std::size_t value = letters.find(letter);
      if (value == std::string_view::npos) return std::nullopt;
      for (std::size_t i = 0; i < 6; ++i, ++bit)
        packed.bits_[bit / 8] |= static_cast<std::uint8_t>((value >> i & 1U) << (bit % 8));
    }
    return packed;
  }

  std::string text() const {
    std::string text(length_, ' ');
    std::size_t bit = 0;
    for (char& letter : text) {
      std::size_t value = 0;
      for (std::size_t i = 0; i < 6; ++i, ++bit)
        value |= static_cast<std::size_t>(bits_[bit / 8] >> (bit % 8) & 1U) << i;
      letter = letters[value];
    }
    return text;
  }

  std::size_t hash() const {
    return std::hash<std::string_view>{}(
        {reinterpret_cast<const char*>(bits_.data()), bits_.size()});
  }

  friend auto operator<=>(const PackedTaskId&, const PackedTaskId&) = default;

 private:
  static constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

  std::array<std::uint8_t, 29> bits_{};
  std::uint8_t length_ = 0;
};

}  // namespace muster::worker_state
