#include <algorithm>

#include <muster/rules/toml_nesting.hpp>

namespace muster::rules {
namespace {

// Walks the text by tokens that matter for depth: strings and comments are stepped over, brackets
// and dots are counted. It need not understand TOML: on broken text it may count too much or too
// little by one string, and the parser then says what is broken.
class DepthScanner {
 public:
  DepthScanner(std::string_view text, std::size_t limit) : text_(text), limit_(limit) {}

  std::optional<Position> scan() {
    while (offset_ < text_.size()) {
      const char c = text_[offset_];
      if (c == '#')
        skip_until('\n');
      else if (c == '"' || c == '\'')
        skip_string(c);
      else {
        count(c);
        if (depth_ + dots_ > limit_) return position();
        ++offset_;
      }
    }
    return std::nullopt;
  }

 private:
  void count(char c) {
    switch (c) {
      case '[':
      case '{':
        ++depth_, dots_ = 0;
        break;
      case ']':
      case '}':
        depth_ -= depth_ > 0, dots_ = 0;
        break;
      case '.':
        ++dots_;
        break;
      case '\n':
      case ',':
      case '=':
        dots_ = 0;
        break;
      default:
        break;
    }
  }

  void skip_until(char end) {
    const auto found = text_.find(end, offset_);
    offset_ = found == std::string_view::npos ? text_.size() : found;
  }

  void skip_string(char quote) {
    const bool multiline = text_.substr(offset_, 3) == std::string(3, quote);
    const std::size_t length = multiline ? 3 : 1;
    for (offset_ += length; offset_ < text_.size(); ++offset_) {
      const char c = text_[offset_];
      if (c == '\\' && quote == '"')
        ++offset_;
      else if (c == '\n' && !multiline)
        return;  // unterminated: the parser will say so
      else if (c == quote && (!multiline || text_.substr(offset_, 3) == std::string(3, quote))) {
        offset_ += length;
        return;
      }
    }
    offset_ = std::min(offset_, text_.size());
  }

  Position position() const {
    const std::string_view before = text_.substr(0, offset_);
    const auto line = static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n'));
    const auto newline = before.rfind('\n');
    const std::string_view head =
        newline == std::string_view::npos ? before : before.substr(newline + 1);
    const auto column =
        std::count_if(head.begin(), head.end(), [](char c) { return (c & 0xC0) != 0x80; });
    return {line + 1, static_cast<std::uint32_t>(column) + 1};
  }

  std::string_view text_;
  std::size_t limit_;
  std::size_t offset_ = 0, depth_ = 0, dots_ = 0;
};

}  // namespace

std::optional<Position> find_deep_nesting(std::string_view text, std::size_t limit) {
  return DepthScanner(text, limit).scan();
}

}  // namespace muster::rules
