#include "same.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace muster::rules::syntax {
namespace {

bool same_float(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

bool same_table(const toml::table& a, const toml::table& b) {
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const auto& pair) {
           const auto* other = b.get(pair.first.str());
           return other && same(pair.second, *other);
         });
}

bool same_array(const toml::array& a, const toml::array& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return same(x, y); });
}

}  // namespace

bool same(const toml::node& a, const toml::node& b) {
  if (a.type() != b.type()) return false;
  switch (a.type()) {
    case toml::node_type::table:
      return same_table(*a.as_table(), *b.as_table());
    case toml::node_type::array:
      return same_array(*a.as_array(), *b.as_array());
    case toml::node_type::string:
      return *a.as_string() == *b.as_string();
    case toml::node_type::integer:
      return *a.as_integer() == *b.as_integer();
    case toml::node_type::floating_point:
      return same_float(a.as_floating_point()->get(), b.as_floating_point()->get());
    case toml::node_type::boolean:
      return *a.as_boolean() == *b.as_boolean();
    case toml::node_type::date:
      return *a.as_date() == *b.as_date();
    case toml::node_type::time:
      return *a.as_time() == *b.as_time();
    case toml::node_type::date_time:
      return *a.as_date_time() == *b.as_date_time();
    default:
      return false;
  }
}

}  // namespace muster::rules::syntax
