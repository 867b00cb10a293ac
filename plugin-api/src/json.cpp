#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <vector>

#include <boost/json/basic_parser_impl.hpp>

#include <muster/json.hpp>
#include <muster/utf8.hpp>

namespace muster::json {
namespace {

// Builds a value while Boost's tokenizer walks the text. Doubles are read by from_chars from the
// collected digits, because Boost 1.81 rounds about a third of them wrongly.
class Builder {
 public:
  static constexpr std::size_t max_object_size = ~std::size_t{0} >> 1;
  static constexpr std::size_t max_array_size = max_object_size;
  static constexpr std::size_t max_key_size = max_object_size;
  static constexpr std::size_t max_string_size = max_object_size;

  using Code = boost::json::error_code;
  using View = boost::json::string_view;

  bool on_document_begin(Code&) { return true; }
  bool on_document_end(Code&) { return true; }
  bool on_array_begin(Code&) { return open(array{}); }
  bool on_array_end(std::size_t, Code&) { return close(); }
  bool on_object_begin(Code&) { return open(object{}); }
  bool on_object_end(std::size_t, Code&) { return close(); }
  bool on_string_part(View part, std::size_t, Code&) { return collect(part); }
  bool on_string(View rest, std::size_t, Code&) { return collect(rest), add(value(take())); }
  bool on_key_part(View part, std::size_t, Code&) { return collect(part); }
  bool on_key(View rest, std::size_t, Code& code) {
    collect(rest);
    key_ = take();
    if (open_.back()->as_object().contains(key_)) {
      duplicate_ = key_;
      code = boost::json::error::syntax;
      return false;
    }
    return true;
  }
  bool on_number_part(View part, Code&) { return collect(part); }
  bool on_int64(std::int64_t number, View, Code&) { return collected_.clear(), add(value(number)); }
  bool on_uint64(std::uint64_t number, View, Code&) {
    return collected_.clear(), add(value(number));
  }
  bool on_double(double, View rest, Code& code) {
    collect(rest);
    double number = 0;
    const auto [end, failed] =
        std::from_chars(collected_.data(), collected_.data() + collected_.size(), number);
    collected_.clear();
    if (failed != std::errc{} || !std::isfinite(number)) {
      code = boost::json::error::exponent_overflow;
      return false;
    }
    return add(value(number));
  }
  bool on_bool(bool truth, Code&) { return add(value(truth)); }
  bool on_null(Code&) { return add(value(nullptr)); }
  bool on_comment_part(View, Code&) { return true; }
  bool on_comment(View, Code&) { return true; }

  value release() { return std::move(root_); }
  const std::string& duplicate() const { return duplicate_; }

 private:
  bool collect(View part) { return collected_.append(part.data(), part.size()), true; }
  std::string take() { return std::exchange(collected_, {}); }

  // A container under construction stays where it is: nothing is added to its parent until it is
  // closed.
  value& put(value&& item) {
    if (open_.empty()) return root_ = std::move(item);
    value& parent = *open_.back();
    if (parent.is_array()) return parent.get_array().emplace_back(std::move(item));
    return parent.get_object().emplace(key_, std::move(item)).first->value();
  }
  bool add(value&& item) { return put(std::move(item)), true; }
  bool open(value&& container) { return open_.push_back(&put(std::move(container))), true; }
  bool close() { return open_.pop_back(), true; }

  value root_;
  std::vector<value*> open_;
  std::string key_, collected_, duplicate_;
};

std::string position(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto newline = before.rfind('\n');
  const auto column =
      newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

// ECMAScript's Number::toString, which RFC 8785 prescribes.
void append_double(std::string& out, double number) {
  if (number == 0) {  // also -0
    out += '0';
    return;
  }
  char buffer[32];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<std::size_t>(end - buffer));  // [-]d[.ddd]e±xx
  if (text.front() == '-') {
    out += '-';
    text.remove_prefix(1);
  }
  const auto e = text.find('e');
  int exponent = 0;
  const std::string_view power = text.substr(text[e + 1] == '+' ? e + 2 : e + 1);
  std::from_chars(power.data(), power.data() + power.size(), exponent);
  std::string digits(1, text[0]);
  if (e > 2) digits += text.substr(2, e - 2);
  const int count = static_cast<int>(digits.size());
  const int point = exponent + 1;  // digits before the decimal point
  if (point > 21 || point <= -6) {
    out += digits[0];
    if (count > 1) (out += '.') += digits.substr(1);
    out += exponent < 0 ? "e-" : "e+";
    out += std::to_string(std::abs(exponent));
  } else if (point >= count) {
    out += digits;
    out.append(static_cast<std::size_t>(point - count), '0');
  } else if (point > 0) {
    out.append(digits, 0, static_cast<std::size_t>(point));
    (out += '.').append(digits, static_cast<std::size_t>(point));
  } else {
    out += "0.";
    out.append(static_cast<std::size_t>(-point), '0');
    out += digits;
  }
}

// The escape of a byte that may not stand in a string as it is.
void append_escape(std::string& out, char c) {
  static constexpr char hex[] = "0123456789abcdef";
  static constexpr std::string_view escaped = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
  if (const std::size_t at = escaped.find(c); at != std::string_view::npos) {
    (out += '\\') += letters[at];
    return;
  }
  ((out += "\\u00") += hex[c >> 4]) += hex[c & 15];
}

// UTF-16 order differs from UTF-8's byte order only where surrogates (U+10000 and up) meet U+E000
// to U+FFFF.
bool utf16_less(std::string_view a, std::string_view b) {
  const auto rank = [](char byte) {
    const auto lead = static_cast<unsigned char>(byte);
    return lead >= 0xf0 ? 8 * 0xed + 1 + (lead - 0xf0) : 8 * lead;
  };
  const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (x == a.end() || y == b.end()) return x == a.end() && y != b.end();
  return rank(*x) < rank(*y);
}

enum class Form { compact, pretty, canonical };

class Writer {
 public:
  explicit Writer(Form form) : form_(form) {}

  template <class Document>
  std::string text(const Document& document) {
    append(document);
    return std::move(out_);
  }

 private:
  void append(const value& item) {
    switch (item.kind()) {
      case boost::json::kind::null:
        out_ += "null";
        break;
      case boost::json::kind::bool_:
        out_ += item.get_bool() ? "true" : "false";
        break;
      case boost::json::kind::int64:
        append_integer(item.get_int64());
        break;
      case boost::json::kind::uint64:
        append_integer(item.get_uint64());
        break;
      case boost::json::kind::double_:
        append_double(out_, item.get_double());
        break;
      case boost::json::kind::string:
        append_string(out_, item.get_string());
        break;
      case boost::json::kind::array:
        append(item.get_array());
        break;
      case boost::json::kind::object:
        append(item.get_object());
        break;
    }
  }

  // In the canonical form every number is a double, as in JavaScript: 2^53 + 1 has no text of its
  // own.
  template <class Integer>
  void append_integer(Integer number) {
    if (form_ == Form::canonical) return append_double(out_, static_cast<double>(number));
    out_ += std::to_string(number);
  }

  void append(const array& items) {
    const Nested nested(*this, '[', ']', items.empty());
    for (const value& item : items) {
      separate(&item == &items.front());
      append(item);
    }
  }

  void append(const object& members) {
    const Nested nested(*this, '{', '}', members.empty());
    if (form_ != Form::canonical) {
      bool first = true;
      for (const auto& member : members) append(member, std::exchange(first, false));
      return;
    }
    std::vector<const object::value_type*> sorted;
    sorted.reserve(members.size());
    for (const auto& member : members) sorted.push_back(&member);
    std::sort(sorted.begin(), sorted.end(),
              [](const auto* a, const auto* b) { return utf16_less(a->key(), b->key()); });
    for (const auto* member : sorted) append(*member, member == sorted.front());
  }

  void append(const object::value_type& member, bool first) {
    separate(first);
    append_string(out_, member.key());
    out_ += form_ == Form::pretty ? ": " : ":";
    append(member.value());
  }

  void separate(bool first) {
    if (!first) out_ += ',';
    if (form_ == Form::pretty) indent();
  }

  void indent() { (out_ += '\n').append(2 * depth_, ' '); }

  struct Nested {
    Nested(Writer& w, char open, char close, bool empty) : writer(w), end(close), is_empty(empty) {
      writer.out_ += open;
      ++writer.depth_;
    }
    ~Nested() {
      --writer.depth_;
      if (writer.form_ == Form::pretty && !is_empty) writer.indent();
      writer.out_ += end;
    }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;
    Writer& writer;
    char end;
    bool is_empty;
  };

  Form form_;
  std::string out_;
  std::size_t depth_ = 0;
};

}  // namespace

Result<value> parse(std::string_view text, ParseLimits limits) {
  boost::json::parse_options options;
  options.max_depth = limits.max_depth;
  boost::json::basic_parser<Builder> parser(options);
  boost::json::error_code code;
  const std::size_t read = parser.write_some(false, text.data(), text.size(), code);
  if (!code && read < text.size()) code = boost::json::error::extra_data;
  if (!code) return parser.handler().release();
  if (!parser.handler().duplicate().empty())
    return Error::invalid("the key \"" + parser.handler().duplicate() +
                          "\" occurs twice in one object, " + position(text, read));
  if (code == boost::json::error::too_deep)
    return Error::invalid("nested deeper than " + std::to_string(limits.max_depth) + " levels, " +
                          position(text, read));
  return Error::invalid("not JSON: " + code.message() + ", " + position(text, read));
}

Result<object> parse_object(std::string_view text, ParseLimits limits) {
  auto parsed = parse(text, limits);
  if (!parsed) return parsed.error();
  if (!parsed->is_object()) return Error::invalid("expected a JSON object");
  return std::move(parsed->get_object());
}

void append_string(std::string& out, std::string_view bytes) {
  // What is written is JSON whatever was stored: bytes that are no UTF-8 become U+FFFD.
  const std::string corrected = is_utf8(bytes) ? std::string() : valid_utf8(bytes);
  const std::string_view text = corrected.empty() ? bytes : std::string_view(corrected);
  out += '"';
  std::size_t plain = 0;  // where the bytes begin that are copied together
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) >= 0x20 && text[i] != '"' && text[i] != '\\') continue;
    out.append(text, plain, i - plain);
    append_escape(out, text[i]);
    plain = i + 1;
  }
  out.append(text, plain);
  out += '"';
}

void append_number(std::string& out, double number) {
  append_double(out, number);
}

std::string write(const value& document) {
  return Writer(Form::compact).text(document);
}
std::string write_pretty(const value& document) {
  return Writer(Form::pretty).text(document);
}
std::string canonical(const value& document) {
  return Writer(Form::canonical).text(document);
}
std::string detail::write(const object& document) {
  return Writer(Form::compact).text(document);
}
std::string detail::write(const array& document) {
  return Writer(Form::compact).text(document);
}
std::string detail::write_pretty(const object& document) {
  return Writer(Form::pretty).text(document);
}
std::string detail::write_pretty(const array& document) {
  return Writer(Form::pretty).text(document);
}

}  // namespace muster::json
