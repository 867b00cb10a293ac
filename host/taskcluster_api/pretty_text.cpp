#include "host/taskcluster_api/pretty_text.hpp"

#include <charconv>

#include <muster/utf8.hpp>

namespace muster::taskcluster_api {
namespace {

void append_digits(std::string& text, unsigned value, int digits) {
  char buffer[8];
  for (int i = digits; i-- > 0; value /= 10) buffer[i] = static_cast<char>('0' + value % 10);
  text.append(buffer, static_cast<std::size_t>(digits));
}

void append_escaped(std::string& text, std::string_view value) {
  if (!is_utf8(value)) return append_escaped(text, valid_utf8(value));
  static constexpr char hex[] = "0123456789abcdef";
  text += '"';
  std::size_t plain = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto c = static_cast<unsigned char>(value[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    text.append(value, plain, i - plain);
    plain = i + 1;
    text += '\\';
    switch (c) {
      case '"':
      case '\\':
        text += static_cast<char>(c);
        break;
      case '\b':
        text += 'b';
        break;
      case '\f':
        text += 'f';
        break;
      case '\n':
        text += 'n';
        break;
      case '\r':
        text += 'r';
        break;
      case '\t':
        text += 't';
        break;
      default:
        text += {'u', '0', '0', hex[c >> 4], hex[c & 15]};
    }
  }
  text.append(value, plain, value.size() - plain);
  text += '"';
}

}  // namespace

void append_time(std::string& text, Time time) {
  using namespace std::chrono;
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const auto of_day = static_cast<unsigned>((time - day).count());
  append_digits(text, static_cast<unsigned>(int(date.year())), 4);
  text += '-';
  append_digits(text, unsigned(date.month()), 2);
  text += '-';
  append_digits(text, unsigned(date.day()), 2);
  text += 'T';
  append_digits(text, of_day / 3'600'000, 2);
  text += ':';
  append_digits(text, of_day / 60'000 % 60, 2);
  text += ':';
  append_digits(text, of_day / 1000 % 60, 2);
  text += '.';
  append_digits(text, of_day % 1000, 3);
  text += 'Z';
}

void PrettyText::new_line() {
  static constexpr std::string_view spaces = "\n                                                ";
  if (2 * depth_ < spaces.size()) {
    text_ += spaces.substr(0, 1 + 2 * depth_);
  } else {
    text_ += '\n';
    text_.append(2 * depth_, ' ');
  }
}

PrettyText& PrettyText::begin(char bracket) {
  text_ += bracket;
  ++depth_;
  empty_ = true;
  return *this;
}

PrettyText& PrettyText::end(char bracket) {
  --depth_;
  if (!empty_) new_line();
  text_ += bracket;
  empty_ = false;
  return *this;
}

PrettyText& PrettyText::item() {
  if (!empty_) text_ += ',';
  new_line();
  empty_ = false;
  return *this;
}

PrettyText& PrettyText::key(std::string_view name) {
  item();
  append_escaped(text_, name);
  text_ += ": ";
  return *this;
}

PrettyText& PrettyText::string(std::string_view value) {
  append_escaped(text_, value);
  return *this;
}

PrettyText& PrettyText::integer(std::int64_t value) {
  char buffer[24];
  text_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  return *this;
}

PrettyText& PrettyText::boolean(bool value) {
  text_ += value ? "true" : "false";
  return *this;
}

PrettyText& PrettyText::time(Time value) {
  text_ += '"';
  append_time(text_, value);
  text_ += '"';
  return *this;
}

PrettyText& PrettyText::object(const json::object& value) {
  begin_object();
  for (const auto& member : value) key(member.key()).value(member.value());
  return end_object();
}

// Documents that come here were parsed with a bound on their depth.
PrettyText& PrettyText::value(const json::value& value) {
  if (value.is_object()) return object(value.get_object());
  if (value.is_array()) {
    begin_array();
    for (const json::value& one : value.get_array()) item().value(one);
    return end_array();
  }
  if (value.is_string()) return string(value.get_string());
  text_ += json::write(value);
  return *this;
}

}  // namespace muster::taskcluster_api
