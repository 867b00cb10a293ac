#include "lib/toml/toml_text.hpp"

#include <cstdio>

namespace muster::config {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::optional<Mistake> scan() {
    while (at_ < text_.size()) {
      std::size_t length = sequence_length();
      if (length == 0) return wrong("this byte is not UTF-8", "save the file as UTF-8");
      if (is_control()) {
        char code[8];
        std::snprintf(code, sizeof code, "0x%02x", unsigned(byte(0)));
        return wrong(std::string("control character ") + code,
                     "delete it, or write it as an escape in a \"string\"");
      }
      track(length);
      if (depth_ > max_toml_depth || dots_ > max_toml_depth)
        return wrong("nested deeper than " + std::to_string(max_toml_depth) + " levels",
                     "no key of a host configuration is nested so deep");
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

  // Follows strings and comments just so far that brackets and dots inside them do not count.
  void track(std::size_t& length) {
    const char c = text_[at_];
    if (c == '\n' && quote_.size() != 3) quote_ = {}, dots_ = 0;  // one-line strings end here
    if (c == '\n') comment_ = false;
    if (comment_) return;
    if (!quote_.empty()) return inside_string(c, length);
    switch (c) {
      case '#':
        comment_ = true;
        break;
      case '"':
      case '\'':
        quote_ = text_.substr(at_, text_.substr(at_, 3) == std::string(3, c) ? 3 : 1);
        length = quote_.size();
        break;
      case '[':
      case '{':
        ++depth_, dots_ = 0;
        break;
      case ']':
      case '}':
        if (depth_ > 0) --depth_;
        dots_ = 0;
        break;
      case '=':
      case ',':
        dots_ = 0;
        break;
      case '.':
        ++dots_;
        break;
      default:
        break;
    }
  }

  void inside_string(char c, std::size_t& length) {
    if (c == '\\' && quote_[0] == '"' && byte(1) >= 0x20 && byte(1) < 0x7f) {
      length = 2;
    } else if (text_.substr(at_, quote_.size()) == quote_) {
      length = quote_.size();
      quote_ = {};
    }
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

  std::string_view text_, quote_;
  bool comment_ = false;
  std::size_t at_ = 0, depth_ = 0, dots_ = 0;
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
  return Scanner(text).scan();
}

}  // namespace muster::config
