#include <algorithm>
#include <charconv>

#include <muster/rules/path.hpp>

#include "unicode.hpp"

namespace muster::rules {
namespace {

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

void append_quoted(std::string& out, std::string_view segment) {
  static constexpr char digits[] = "0123456789abcdef";
  out += '"';
  for (const char c : segment) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else if (byte < 0x20 || byte == 0x7f)
      ((out += "\\u00") += digits[byte >> 4]) += digits[byte & 15];
    else
      out += c;
  }
  out += '"';
}

class PathReader {
 public:
  explicit PathReader(std::string_view text) : text_(text) {}

  Result<Path> read() {
    Path path;
    for (;;) {
      skip_blanks();
      auto segment = read_segment();
      if (!segment) return segment.error();
      path.push_back(std::move(*segment));
      skip_blanks();
      if (at_end()) return path;
      if (text_[offset_] != '.')
        return Error::invalid("'" + std::string(text_.substr(offset_, 1)) +
                              "' follows a key where a dot is expected");
      ++offset_;
    }
  }

 private:
  bool at_end() const { return offset_ == text_.size(); }
  void skip_blanks() {
    while (!at_end() && (text_[offset_] == ' ' || text_[offset_] == '\t')) ++offset_;
  }

  Result<std::string> read_segment() {
    if (at_end())
      return Error::invalid(text_.empty() ? "the path is empty"
                                          : "a key is missing after the last dot");
    if (text_[offset_] == '\'') return read_literal();
    if (text_[offset_] == '"') return read_basic();
    const std::size_t begin = offset_;
    while (!at_end() && is_bare(text_[offset_])) ++offset_;
    if (offset_ > begin) return std::string(text_.substr(begin, offset_ - begin));
    if (text_[offset_] == '.') return Error::invalid("a key is missing before a dot");
    return Error::invalid(
        "keys with other characters than letters, digits, _ and - must be quoted");
  }

  Result<std::string> read_literal() {
    const std::size_t end = text_.find('\'', offset_ + 1);
    if (end == std::string_view::npos) return Error::invalid("the closing ' is missing");
    std::string segment(text_.substr(offset_ + 1, end - offset_ - 1));
    offset_ = end + 1;
    return segment;
  }

  Result<std::string> read_basic() {
    std::string segment;
    for (++offset_; !at_end(); ++offset_) {
      const char c = text_[offset_];
      if (c == '"') return ++offset_, segment;
      if (c != '\\') {
        segment += c;
        continue;
      }
      if (++offset_ == text_.size()) break;
      if (!read_escape(segment))
        return Error::invalid("there is no escape \\" + std::string(text_.substr(offset_, 1)) +
                              " of this form");
    }
    return Error::invalid("the closing \" is missing");
  }

  bool read_escape(std::string& segment) {
    static constexpr std::string_view names = "btnfr\"\\", meanings = "\b\t\n\f\r\"\\";
    const char c = text_[offset_];
    if (const auto found = names.find(c); found != std::string_view::npos)
      return segment += meanings[found], true;
    if (c != 'u' && c != 'U') return false;
    const std::size_t length = c == 'u' ? 4 : 8;
    const std::string_view digits = text_.substr(offset_ + 1, length);
    std::uint32_t point = 0;
    const auto [end, failed] =
        std::from_chars(digits.data(), digits.data() + digits.size(), point, 16);
    if (digits.size() != length || failed != std::errc{} || end != digits.data() + length)
      return false;
    if (point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return false;
    append_utf8(segment, point);
    offset_ += length;
    return true;
  }

  std::string_view text_;
  std::size_t offset_ = 0;
};

}  // namespace

std::string format_path(const Path& path) {
  std::string text;
  for (const std::string& segment : path) {
    if (!text.empty()) text += '.';
    if (!segment.empty() && std::all_of(segment.begin(), segment.end(), is_bare))
      text += segment;
    else
      append_quoted(text, segment);
  }
  return text;
}

Result<Path> parse_path(std::string_view text) {
  return PathReader(text).read();
}

}  // namespace muster::rules
