#include <array>
#include <charconv>
#include <cmath>
#include <sstream>

#include <muster/rules/edit.hpp>

#include "model.hpp"
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

using namespace syntax;

Result<std::string> to_toml(const boost::json::value& value) {
  using boost::json::kind;
  switch (value.kind()) {
    case kind::null:
      return Error::invalid("TOML has no null; unset the value instead.");
    case kind::bool_:
      return value.get_bool() ? "true" : "false";
    case kind::int64:
      return std::to_string(value.get_int64());
    case kind::uint64:
      return Error::invalid("The number " + std::to_string(value.get_uint64()) +
                            " is too large for TOML.");
    case kind::double_:
      return write_value(toml::value<double>(value.get_double()));
    case kind::string: {
      const auto& text = value.get_string();
      return toml_string(std::string_view(text.data(), text.size()));
    }
    default:
      break;
  }
  std::string out = value.is_array() ? "[" : "{ ";
  const auto empty_size = out.size();
  if (const auto* array = value.if_array()) {
    for (const auto& element : *array) {
      auto item = to_toml(element);
      if (!item) return item;
      out += (out.size() > empty_size ? ", " : "") + *item;
    }
    return out += "]";
  }
  for (const auto& member : value.get_object()) {
    auto item = to_toml(member.value());
    if (!item) return item;
    const std::string_view key(member.key().data(), member.key().size());
    out += (out.size() > empty_size ? ", " : "") + write_key(key) + " = " + *item;
  }
  return out.size() == empty_size ? "{}" : out + " }";
}

std::string toml_value_or_string(std::string_view text) {
  const auto value = parse_one_value(text);
  if (!value) return toml_string(text);
  const auto type = value->get("value")->type();
  // What a worker configuration cannot hold is meant as text: dates become strings there anyhow.
  if (type == toml::node_type::date || type == toml::node_type::time ||
      type == toml::node_type::date_time || text == "inf" || text == "nan")
    return toml_string(text);
  return std::string(text);
}

}  // namespace muster::rules
