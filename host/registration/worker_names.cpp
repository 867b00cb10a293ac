#include "host/registration/worker_names.hpp"

#include <algorithm>

namespace muster::registration {
namespace {

constexpr std::size_t longest_name = 38;

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_small_letter(char c) {
  return c >= 'a' && c <= 'z';
}

bool is_worker_type(std::string_view text) {
  const auto inside = [](char c) { return is_small_letter(c) || is_digit(c) || c == '-'; };
  return !text.empty() && text.size() <= longest_name && is_small_letter(text.front()) &&
         text.back() != '-' && std::ranges::all_of(text, inside);
}

}  // namespace

bool is_worker_name(std::string_view text) {
  const auto inside = [](char c) {
    return is_digit(c) || is_small_letter(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  };
  return !text.empty() && text.size() <= longest_name && std::ranges::all_of(text, inside);
}

bool is_worker_pool_id(std::string_view text) {
  const auto slash = text.find('/');
  return slash != std::string_view::npos && is_worker_name(text.substr(0, slash)) &&
         is_worker_type(text.substr(slash + 1));
}

}  // namespace muster::registration
