// Boost.JSON with the three things it lacks in 1.81: numbers that survive a round trip, refusal of
// what is ambiguous (duplicate keys), and RFC 8785's canonical form, on which content hashes rest.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

#include <muster/error.hpp>

namespace muster::json {

using boost::json::array;
using boost::json::object;
using boost::json::string;
using boost::json::value;

struct ParseLimits {
  std::size_t max_depth = 64;
};

// Strict JSON in UTF-8. Fails as `invalid` with line and column. Thread-safe, as is everything
// here.
Result<value> parse(std::string_view text, ParseLimits limits = {});

// The same, for a text that must hold an object.
Result<object> parse_object(std::string_view text, ParseLimits limits = {});

// Compact, keys in their order. Doubles as ECMAScript writes them: shortest text that reads back as
// the same number.
std::string write(const value& document);

// Indented by two spaces, for people and for Taskcluster's clients.
std::string write_pretty(const value& document);

// RFC 8785: keys sorted by UTF-16 code units, numbers as ECMAScript writes doubles. Same content,
// same bytes.
std::string canonical(const value& document);

// The same of an object or an array, without a copy of it as a value. Templates, so that a list in
// braces still means a value.
namespace detail {
std::string write(const object& document);
std::string write(const array& document);
std::string write_pretty(const object& document);
std::string write_pretty(const array& document);
}  // namespace detail
template <class T>
concept Container = std::same_as<T, object> || std::same_as<T, array>;
template <Container T>
std::string write(const T& document) {
  return detail::write(document);
}
template <Container T>
std::string write_pretty(const T& document) {
  return detail::write_pretty(document);
}

// For text that is written straight, without a tree of values: what write() makes of a string, with
// its quotes, and of a number.
void append_string(std::string& out, std::string_view text);
void append_number(std::string& out, double number);

}  // namespace muster::json
