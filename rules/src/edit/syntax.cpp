#include "syntax.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

namespace muster::rules::syntax {
namespace {

constexpr int max_depth = 64;

// Thrown inside this file only, so that the scanner reads as the grammar does.
struct Lost {
  std::size_t position;
};

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

void append_utf8(std::string& out, unsigned code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Document document() {
    if (text_.starts_with("\xEF\xBB\xBF")) position_ = 3;
    Document document;
    document.sections.emplace_back();
    document.sections.back().header_begin = document.sections.back().body_begin = position_;
    while (skip_to_content()) {
      if (peek() == '[') {
        document.sections.push_back(header());
      } else {
        document.sections.back().entries.push_back(entry(0));
      }
    }
    return document;
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  bool at_end() const { return position_ >= text_.size(); }
  void expect(char c) {
    if (at_end() || peek() != c) throw Lost{position_};
    ++position_;
  }
  void skip_spaces() {
    while (peek() == ' ' || peek() == '\t') ++position_;
  }
  void skip_comment() {
    while (!at_end() && peek() != '\n') ++position_;
  }

  // Spaces, line ends and comments. False at the end of the text.
  bool skip_to_content() {
    while (!at_end()) {
      const char c = peek();
      if (c == '#') {
        skip_comment();
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        ++position_;
      } else {
        return true;
      }
    }
    return false;
  }

  Section header() {
    Section section;
    section.header_begin = line_begin(text_, position_);
    expect('[');
    if (peek() == '[') {
      section.is_element = true;
      ++position_;
    }
    skip_spaces();
    const auto keys = dotted_key();
    skip_spaces();
    expect(']');
    if (section.is_element) expect(']');
    section.path = resolve(keys, section.is_element);
    section.body_begin = line_end(text_, position_);
    skip_spaces();
    section.has_comments = peek() == '#';
    skip_comment();
    return section;
  }

  // A header's key that names an array of tables means its last element so far.
  Address resolve(const std::vector<std::string>& keys, bool is_element) {
    Address path;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      path.emplace_back(keys[i]);
      const bool last = i + 1 == keys.size();
      if (last && is_element) {
        path.emplace_back(elements_[path]++);
      } else if (const auto found = elements_.find(path); found != elements_.end()) {
        path.emplace_back(found->second - 1);
      }
    }
    return path;
  }

  Entry entry(int depth) {
    Entry result;
    result.key_span.begin = position_;
    result.key = dotted_key();
    result.key_span.end = key_end_;
    skip_spaces();
    expect('=');
    skip_spaces();
    result.value = value(depth);
    return result;
  }

  std::vector<std::string> dotted_key() {
    std::vector<std::string> keys;
    for (;;) {
      keys.push_back(simple_key());
      key_end_ = position_;
      skip_spaces();
      if (peek() != '.') break;
      ++position_;
      skip_spaces();
    }
    position_ = key_end_;
    return keys;
  }

  std::string simple_key() {
    if (peek() == '"') return basic_key();
    if (peek() == '\'') {
      const auto end = text_.find('\'', position_ + 1);
      if (end == std::string_view::npos) throw Lost{position_};
      std::string key(text_.substr(position_ + 1, end - position_ - 1));
      position_ = end + 1;
      return key;
    }
    const auto begin = position_;
    while (is_bare(peek())) ++position_;
    if (position_ == begin) throw Lost{position_};
    return std::string(text_.substr(begin, position_ - begin));
  }

  std::string basic_key() {
    std::string key;
    for (++position_; peek() != '"'; ++position_) {
      if (at_end()) throw Lost{position_};
      if (peek() == '\\') {
        ++position_;
        escape(key);
      } else {
        key += peek();
      }
    }
    ++position_;
    return key;
  }

  // At the character after the backslash; ends at the escape's last one.
  void escape(std::string& out) {
    static constexpr std::string_view names = "btnfr\"\\", meanings = "\b\t\n\f\r\"\\";
    const char c = peek();
    if (c == 'u' || c == 'U') {
      const std::size_t digits = c == 'u' ? 4 : 8;
      if (position_ + digits >= text_.size()) throw Lost{position_};
      unsigned code = 0;
      const char* begin = text_.data() + position_ + 1;
      const auto [end, error] = std::from_chars(begin, begin + digits, code, 16);
      if (error != std::errc() || end != begin + digits || code > 0x10FFFF) throw Lost{position_};
      append_utf8(out, code);
      position_ += digits;
      return;
    }
    const auto index = at_end() ? std::string_view::npos : names.find(c);
    if (index == std::string_view::npos) throw Lost{position_};
    out += meanings[index];
  }

  Value value(int depth) {
    if (depth > max_depth) throw Lost{position_};
    Value result;
    result.span.begin = position_;
    switch (peek()) {
      case '"':
      case '\'':
        string();
        break;
      case '[':
        items(result, Value::Kind::array, ']', depth);
        break;
      case '{':
        items(result, Value::Kind::table, '}', depth);
        break;
      default:
        bare();
        break;
    }
    result.span.end = position_;
    return result;
  }

  void items(Value& container, Value::Kind kind, char close, int depth) {
    container.kind = kind;
    ++position_;
    for (;;) {
      if (!skip_to_content()) throw Lost{position_};
      if (peek() == close) break;
      if (kind == Value::Kind::table) {
        container.items.push_back(entry(depth + 1));
      } else {
        container.items.emplace_back();
        container.items.back().value = value(depth + 1);
      }
      if (!skip_to_content()) throw Lost{position_};
      if (peek() != ',') break;
      container.items.back().comma = position_++;
    }
    expect(close);
  }

  void string() {
    const char quote = peek();
    const std::string three(3, quote);
    if (text_.substr(position_, 3) == three) {
      position_ += 3;
      while (text_.substr(position_, 3) != three) next_in_string(quote);
      position_ += 3;
      // Up to two quotes may stand right before the closing ones.
      for (int extra = 0; extra < 2 && peek() == quote; ++extra) ++position_;
    } else {
      for (++position_; peek() != quote || at_end();) next_in_string(quote);
      ++position_;
    }
  }
  void next_in_string(char quote) {
    position_ += quote == '"' && peek() == '\\' ? 2 : 1;
    if (position_ >= text_.size()) throw Lost{text_.size()};
  }

  // Numbers, dates (which may hold a space), true and false.
  void bare() {
    const auto begin = position_;
    while (!at_end() && std::string_view(",]}#\r\n").find(peek()) == std::string_view::npos)
      ++position_;
    while (position_ > begin && (text_[position_ - 1] == ' ' || text_[position_ - 1] == '\t'))
      --position_;
    if (position_ == begin) throw Lost{position_};
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t key_end_ = 0;
  std::map<Address, std::size_t> elements_;  // how many [[...]] each array has so far
};

// Which comment lines belong to which section: those right above a header to that header, others to
// the section they stand in, those after a blank line below the last entry to none.
void assign_lines(std::string_view text, Document& document) {
  auto& sections = document.sections;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    auto& section = sections[i];
    const auto end = i + 1 < sections.size() ? sections[i + 1].header_begin : text.size();
    section.content_end =
        section.entries.empty() ? section.body_begin : line_end(text, section.entries.back().end());
    auto next = end;
    while (i + 1 < sections.size() && next > section.content_end) {
      const auto above = line_begin(text, next - 1);
      if (above < section.content_end || !is_comment_line(text, above)) break;
      next = above;
    }
    section.end = next;
    if (i + 1 < sections.size()) {
      sections[i + 1].leading_begin = next;
      sections[i + 1].has_comments |= next < sections[i + 1].header_begin;
    }
    while (section.content_end < section.end && is_comment_line(text, section.content_end))
      section.content_end = line_end(text, section.content_end);

    std::size_t line = section.body_begin;
    for (const auto& entry : section.entries) {
      for (; line < line_begin(text, entry.begin()); line = line_end(text, line))
        section.has_comments |= is_comment_line(text, line);
      line = line_end(text, entry.end());
    }
    for (; line < section.content_end; line = line_end(text, line))
      section.has_comments |= is_comment_line(text, line);
  }
}

Error lost_at(std::size_t position) {
  return Error::unsupported("The layout of this file cannot be followed near byte " +
                            std::to_string(position) + "; edit it by hand.");
}

}  // namespace

bool is_prefix(const Address& prefix, const Address& path) {
  return prefix.size() <= path.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

Result<Document> scan(std::string_view text) {
  if (!text.empty() && text.back() != '\n') return lost_at(text.size());
  try {
    auto document = Scanner(text).document();
    assign_lines(text, document);
    return document;
  } catch (const Lost& lost) {
    return lost_at(lost.position);
  }
}

std::size_t line_begin(std::string_view text, std::size_t position) {
  if (position == 0) return 0;
  const auto found = text.rfind('\n', position - 1);
  if (found != std::string_view::npos) return found + 1;
  return text.starts_with("\xEF\xBB\xBF") ? std::min<std::size_t>(3, position) : 0;
}

std::size_t line_end(std::string_view text, std::size_t position) {
  const auto found = text.find('\n', position);
  return found == std::string_view::npos ? text.size() : found + 1;
}

namespace {
char first_of_line(std::string_view text, std::size_t begin) {
  while (begin < text.size() && (text[begin] == ' ' || text[begin] == '\t' || text[begin] == '\r'))
    ++begin;
  return begin < text.size() ? text[begin] : '\n';
}
}  // namespace

bool is_blank_line(std::string_view text, std::size_t begin) {
  return first_of_line(text, begin) == '\n';
}
bool is_comment_line(std::string_view text, std::size_t begin) {
  return first_of_line(text, begin) == '#';
}

std::string_view line_break(std::string_view text) {
  const auto found = text.find('\n');
  return found != std::string_view::npos && found > 0 && text[found - 1] == '\r' ? "\r\n" : "\n";
}

std::string write_key(std::string_view key) {
  if (!key.empty() && std::all_of(key.begin(), key.end(), is_bare)) return std::string(key);
  std::string out = "\"";
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      static constexpr char digits[] = "0123456789ABCDEF";
      out += "\\u00";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += c;
    }
  }
  return out += '"';
}

std::string write_keys(const std::vector<std::string>& keys) {
  std::string out;
  for (const auto& key : keys) {
    if (!out.empty()) out += '.';
    out += write_key(key);
  }
  return out;
}

}  // namespace muster::rules::syntax
