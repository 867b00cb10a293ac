#include "host/postgres/values.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include <muster/utf8.hpp>

namespace muster::postgres {
namespace {

using store::ColumnType;
using store::Value;

constexpr char escape = '\1';
constexpr std::string_view hex_digits = "0123456789abcdef";

bool is_plain(std::string_view text) {
  return text.find('\0') == std::string_view::npos && text.find(escape) == std::string_view::npos &&
         is_utf8(text);
}

// The length of the UTF-8 sequence that begins here; 0: none does.
std::size_t sequence_at(std::string_view text) {
  for (std::size_t size = 1; size <= 4 && size <= text.size(); ++size)
    if (is_utf8(text.substr(0, size))) return size;
  return 0;
}

int digit_of(char letter) {
  const auto at = hex_digits.find(letter);
  return at == std::string_view::npos ? 0 : static_cast<int>(at);
}

std::string number_text(double number) {
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  std::array<char, 32> buffer{};
  const auto [end, failed] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return {buffer.data(), failed == std::errc() ? end : buffer.data()};
}

template <class Number>
bool read_number(std::string_view text, Value& value) {
  Number number{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size()) return false;
  value = number;
  return true;
}

}  // namespace

std::string escaped(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string out;
  out.reserve(text.size() + 16);
  while (!text.empty()) {
    const std::size_t size = sequence_at(text);
    const char first = text.front();
    if (first == '\0' || first == escape) {
      out += escape;
      out += first == '\0' ? '\1' : '\2';
    } else if (size > 0) {
      out += text.substr(0, size);
    } else {
      const auto byte = static_cast<unsigned char>(first);
      out += escape;
      out += '\3';
      out += hex_digits[byte >> 4];
      out += hex_digits[byte & 15];
    }
    text.remove_prefix(size > 0 ? size : 1);
  }
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != escape || i + 1 >= text.size()) {
      out += text[i];
      continue;
    }
    const char kind = text[++i];
    if (kind == '\3' && i + 2 < text.size()) {
      out += static_cast<char>(digit_of(text[i + 1]) * 16 + digit_of(text[i + 2]));
      i += 2;
    } else {
      out += kind == '\1' ? '\0' : escape;
    }
  }
  return out;
}

std::optional<std::string> to_parameter(const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* real = std::get_if<double>(&value)) return number_text(*real);
  if (const auto* text = std::get_if<std::string>(&value)) return escaped(*text);
  return std::nullopt;
}

bool from_text(std::string_view text, ColumnType type, Value& value) {
  if (type == ColumnType::integer) return read_number<std::int64_t>(text, value);
  if (type == ColumnType::real) return read_number<double>(text, value);
  if (text.find(escape) != std::string_view::npos) {
    value = unescaped(text);
  } else if (auto* held = std::get_if<std::string>(&value)) {
    held->assign(text);
  } else {
    value.emplace<std::string>(text);
  }
  return true;
}

}  // namespace muster::postgres
