#include "relay/dns_name.hpp"

#include <algorithm>
#include <arpa/inet.h>

#include "lib/base/letter_case.hpp"

namespace muster::relay {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

char digit(int number) {
  return static_cast<char>('0' + number % 10);
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

bool is_host_label(std::string_view label) {
  return !label.empty() && label.size() <= longest_label && label.front() != '-' &&
         label.back() != '-' && std::all_of(label.begin(), label.end(), is_plain);
}

}  // namespace

void append_label(std::string& name, std::span<const unsigned char> label) {
  if (!name.empty()) name += '.';
  for (const unsigned char byte : label) {
    const char c = to_lower(static_cast<char>(byte));
    if (is_plain(c))
      name += c;
    else
      (((name += '\\') += digit(byte / 100)) += digit(byte / 10)) += digit(byte);
  }
}

std::optional<std::string> host_name(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  if (text.empty() || text.size() > longest_name) return std::nullopt;
  std::string name = to_lower(text);
  for (std::string_view rest = name;;) {
    const auto dot = rest.find('.');
    if (!is_host_label(rest.substr(0, dot))) return std::nullopt;
    if (dot == rest.npos) return name;
    rest.remove_prefix(dot + 1);
  }
}

bool is_v4(const Address& address) {
  return std::all_of(address.begin(), address.begin() + 10, [](auto b) { return b == 0; }) &&
         address[10] == 0xff && address[11] == 0xff;
}

std::string to_text(const Address& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (is_v4(address))
    ::inet_ntop(AF_INET, address.data() + 12, text, sizeof text);
  else
    ::inet_ntop(AF_INET6, address.data(), text, sizeof text);
  return text;
}

std::string reverse_name(const Address& address) {
  std::string name;
  if (is_v4(address)) {
    for (std::size_t i = 16; i-- > 12;) name += std::to_string(address[i]) + ".";
    return name + "in-addr.arpa";
  }
  for (std::size_t i = 16; i-- > 0;)
    for (const int nibble : {address[i] & 15, address[i] >> 4})
      (name += hex_digits[static_cast<std::size_t>(nibble)]) += '.';
  return name + "ip6.arpa";
}

}  // namespace muster::relay
