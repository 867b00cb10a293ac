#include "json_schema_value.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>

namespace muster::json::schema_detail {
namespace {

// Holds every int64, uint64 and double exactly: its mantissa has at least 64 bits.
long double exact(const value& number) {
  if (number.is_int64()) return static_cast<long double>(number.get_int64());
  if (number.is_uint64()) return static_cast<long double>(number.get_uint64());
  return static_cast<long double>(number.get_double());
}

__extension__ typedef unsigned __int128 Wide;

struct Decimal {  // digits * 10^exponent; the sign does not matter here
  std::uint64_t digits = 0;
  int exponent = 0;
};

Decimal decimal(const value& number) {
  if (number.is_uint64()) return {number.get_uint64(), 0};
  if (number.is_int64()) {
    const auto signed_number = number.get_int64();
    const auto bits = static_cast<std::uint64_t>(signed_number);
    return {signed_number < 0 ? std::uint64_t{0} - bits : bits, 0};
  }
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, std::abs(number.get_double()),
                                 std::chars_format::scientific);
  Decimal result;
  const char* at = text;
  bool after_point = false;
  for (; at != end.ptr && *at != 'e'; ++at) {
    if (*at == '.') {
      after_point = true;
      continue;
    }
    result.digits = result.digits * 10 + static_cast<std::uint64_t>(*at - '0');
    if (after_point) --result.exponent;
  }
  int written = 0;
  if (at != end.ptr) std::from_chars(at[1] == '+' ? at + 2 : at + 1, end.ptr, written);
  result.exponent += written;
  return result;
}

std::uint64_t power_of_ten_modulo(int exponent, std::uint64_t modulus) {
  Wide result = 1 % modulus;
  for (int i = 0; i < exponent; ++i) result = result * 10 % modulus;
  return static_cast<std::uint64_t>(result);
}

bool equal_objects(const object& a, const object& b, int depth) {
  if (a.size() != b.size()) return false;
  return std::all_of(a.begin(), a.end(), [&](const auto& member) {
    const value* other = b.if_contains(member.key());
    return other && equal(member.value(), *other, depth + 1);
  });
}

}  // namespace

bool is_integer(const value& number) {
  if (!number.is_double()) return number.is_int64() || number.is_uint64();
  return std::trunc(number.get_double()) == number.get_double();
}

int compare_numbers(const value& a, const value& b) {
  const long double left = exact(a);
  const long double right = exact(b);
  return left < right ? -1 : left > right ? 1 : 0;
}

bool is_multiple(const value& number, const value& of) {
  if (number.is_double() && !std::isfinite(number.get_double())) return false;
  const Decimal a = decimal(number);
  const Decimal b = decimal(of);
  if (a.digits == 0) return true;
  if (b.digits == 0) return false;
  if (a.exponent >= b.exponent) {
    const Wide scaled = Wide{power_of_ten_modulo(a.exponent - b.exponent, b.digits)};
    return scaled * (a.digits % b.digits) % b.digits == 0;
  }
  Wide divisor = b.digits;
  for (int i = a.exponent; i < b.exponent; ++i) {
    divisor *= 10;
    if (divisor > a.digits) return false;
  }
  return a.digits % divisor == 0;
}

bool equal(const value& a, const value& b, int depth) {
  if (depth > max_value_depth) return false;
  if (a.is_number() && b.is_number()) return compare_numbers(a, b) == 0;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case boost::json::kind::bool_:
      return a.get_bool() == b.get_bool();
    case boost::json::kind::string:
      return a.get_string() == b.get_string();
    case boost::json::kind::object:
      return equal_objects(a.get_object(), b.get_object(), depth);
    case boost::json::kind::array:
      return std::equal(a.get_array().begin(), a.get_array().end(), b.get_array().begin(),
                        b.get_array().end(),
                        [&](const value& x, const value& y) { return equal(x, y, depth + 1); });
    default:
      return true;  // null
  }
}

std::size_t hash(const value& item, int depth) {
  constexpr std::size_t odd = 0x9e3779b97f4a7c15U;
  if (depth > max_value_depth) return 0;
  if (item.is_number()) return std::hash<double>{}(static_cast<double>(exact(item)));
  switch (item.kind()) {
    case boost::json::kind::bool_:
      return item.get_bool() ? 2 : 1;
    case boost::json::kind::string:
      return std::hash<std::string_view>{}({item.get_string().data(), item.get_string().size()});
    case boost::json::kind::array: {
      std::size_t sum = 3;
      for (const value& element : item.get_array()) sum = sum * odd + hash(element, depth + 1);
      return sum;
    }
    case boost::json::kind::object: {
      std::size_t sum = 4;
      for (const auto& member : item.get_object())
        sum += std::hash<std::string_view>{}({member.key().data(), member.key().size()}) *
               (hash(member.value(), depth + 1) | 1);
      return sum;
    }
    default:
      return 5;
  }
}

std::string_view kind_name(const value& item) {
  if (item.is_number()) return is_integer(item) ? "an integer" : "a number";
  if (item.is_string()) return "a string";
  if (item.is_bool()) return "a boolean";
  if (item.is_array()) return "an array";
  if (item.is_object()) return "an object";
  return "null";
}

std::string excerpt(const value& item) {
  constexpr std::size_t longest = 60;
  if (item.is_object()) return item.get_object().empty() ? "{}" : "an object";
  if (item.is_array()) return item.get_array().empty() ? "[]" : "an array";
  if (!item.is_string() || item.get_string().size() <= longest) return write(item);
  std::string_view text(item.get_string().data(), longest);
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80)
    text.remove_suffix(1);
  if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0) text.remove_suffix(1);
  std::string written = write(value(text));
  written.insert(written.size() - 1, "…");
  return written;
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace muster::json::schema_detail
