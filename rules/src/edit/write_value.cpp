#include <array>
#include <charconv>
#include <cmath>
#include <sstream>

#include <muster/rules/edit.hpp>

#include "surgery.hpp"

namespace muster::rules {

std::string toml_string(std::string_view text) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (byte < 0x20 || byte == 0x7F) {
          out += "\\u00";
          out += digits[byte >> 4];
          out += digits[byte & 15];
        } else {
          out += c;
        }
    }
  }
  return out += '"';
}

namespace syntax {
namespace {

std::string write_float(double number) {
  if (std::isnan(number)) return std::signbit(number) ? "-nan" : "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  std::array<char, 40> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  std::string out(buffer.data(), result.ptr);
  // A float must not read back as an integer.
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

std::string write_table(const toml::table& table) {
  std::string out = "{";
  for (const auto& [key, value] : table) {
    out += out.size() == 1 ? " " : ", ";
    out += write_key(key.str()) + " = " + write_value(value);
  }
  return out += table.empty() ? "}" : " }";
}

std::string write_array(const toml::array& array) {
  std::string out = "[";
  for (const auto& value : array) {
    if (out.size() > 1) out += ", ";
    out += write_value(value);
  }
  return out += ']';
}

}  // namespace

std::string write_value(const toml::node& value) {
  if (const auto* table = value.as_table()) return write_table(*table);
  if (const auto* array = value.as_array()) return write_array(*array);
  if (const auto* text = value.as_string()) return toml_string(text->get());
  if (const auto* number = value.as_floating_point()) return write_float(number->get());
  if (const auto* number = value.as_integer()) return std::to_string(number->get());
  if (const auto* flag = value.as_boolean()) return flag->get() ? "true" : "false";
  std::ostringstream out;  // dates and times
  if (const auto* date = value.as_date()) out << date->get();
  if (const auto* time = value.as_time()) out << time->get();
  if (const auto* both = value.as_date_time()) out << both->get();
  return std::move(out).str();
}

}  // namespace syntax
}  // namespace muster::rules
