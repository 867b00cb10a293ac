#include "lib/mail/address.hpp"

#include <algorithm>

namespace muster::mail {
namespace {

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// What RFC 5321 allows without quotes.
bool is_local_character(char c) {
  return is_letter_or_digit(c) ||
         std::string_view("!#$%&'*+-/=?^_`{|}~.").find(c) != std::string_view::npos;
}

bool is_dotted(std::string_view text) {
  return !text.starts_with('.') && !text.ends_with('.') &&
         text.find("..") == std::string_view::npos;
}

bool is_domain(std::string_view text) {
  if (text.empty() || text.size() > 253 || !is_dotted(text)) return false;
  if (text.starts_with('-') || text.ends_with('-')) return false;
  return std::ranges::all_of(text,
                             [](char c) { return is_letter_or_digit(c) || c == '.' || c == '-'; });
}

}  // namespace

bool is_address(std::string_view text) {
  const auto at = text.find('@');
  if (at == std::string_view::npos || at == 0 || at > 64 || text.size() > 254) return false;
  const std::string_view local = text.substr(0, at);
  return local.front() != '-' && is_dotted(local) &&
         std::ranges::all_of(local, is_local_character) && is_domain(text.substr(at + 1));
}

std::string_view domain_of(std::string_view address) {
  return address.substr(address.find('@') + 1);
}

}  // namespace muster::mail
