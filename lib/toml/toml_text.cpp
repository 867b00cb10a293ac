#include "lib/toml/toml_text.hpp"

#include <cstdio>

#include <muster/rules/toml_nesting.hpp>

namespace muster::config {
namespace {

// Bytes that the parser must not see.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::optional<Mistake> scan() {
    while (at_ < text_.size()) {
      const std::size_t length = sequence_length();
      if (length == 0) return wrong("this byte is not UTF-8", "save the file as UTF-8");
      if (is_control()) {
        char code[8];
        std::snprintf(code, sizeof code, "0x%02x", unsigned(byte(0)));
        return wrong(std::string("control character ") + code,
                     "delete it, or write it as an escape in a \"string\"");
      }
      advance(length);
    }
    return std::nullopt;
  }

 private:
  unsigned char byte(std::size_t i) const {
    return at_ + i < text_.size() ? static_cast<unsigned char>(text_[at_ + i]) : 0;
  }
  bool is_control() const {
    const unsigned char c = byte(0);
    if (c == '\r') return byte(1) != '\n';
    return (c < 0x20 && c != '\t' && c != '\n') || c == 0x7f;
  }

  std::size_t sequence_length() const {
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    if (lead < 0xc2 || lead > 0xf4) return 0;
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    for (std::size_t i = 1; i < length; ++i)
      if ((byte(i) & 0xc0) != 0x80) return 0;
    const unsigned second = byte(1);
    const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
    const bool surrogate = lead == 0xed && second > 0x9f;
    const bool too_large = lead == 0xf4 && second > 0x8f;
    return overlong || surrogate || too_large ? 0 : length;
  }

  void advance(std::size_t length) {
    for (std::size_t i = 0; i < length; ++i) {
      const auto c = static_cast<unsigned char>(text_[at_ + i]);
      if (c == '\n')
        ++position_.line, position_.column = 1;
      else if ((c & 0xc0) != 0x80)
        ++position_.column;
    }
    at_ += length;
  }

  Mistake wrong(std::string reason, std::string remedy) const {
    return {Severity::error, position_, "", std::move(reason), std::move(remedy)};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Position position_;
};

}  // namespace

std::optional<Mistake> refuse_dangerous_text(std::string_view text) {
  if (text.size() > max_toml_bytes)
    return Mistake{Severity::error,
                   {},
                   "",
                   "the file has " + std::to_string(text.size()) + " bytes, more than the " +
                       std::to_string(max_toml_bytes) + " that a configuration may have",
                   "check that this is the right file"};
  if (auto mistake = Scanner(text).scan()) return mistake;
  if (const auto deep = rules::find_deep_nesting(text, max_toml_depth))
    return Mistake{Severity::error,
                   {deep->line, deep->column},
                   "",
                   "nested deeper than " + std::to_string(max_toml_depth) + " levels",
                   "no key of a host configuration is nested so deep"};
  return std::nullopt;
}

}  // namespace muster::config
