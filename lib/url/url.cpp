#include "lib/url/url.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>

namespace muster {
namespace {

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_ipv4(const std::string& host) {
  in_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1;
}

// "[::1]" in the one spelling that all libraries write; empty if it is no IPv6 address.
std::string normal_ipv6(std::string_view bracketed) {
  if (bracketed.size() < 4 || !bracketed.ends_with(']')) return {};
  const std::string text(bracketed.substr(1, bracketed.size() - 2));
  in6_addr address{};
  char normal[INET6_ADDRSTRLEN] = "";
  if (::inet_pton(AF_INET6, text.c_str(), &address) != 1) return {};
  ::inet_ntop(AF_INET6, &address, normal, sizeof normal);
  return "[" + std::string(normal) + "]";
}

// A name that a resolver can be asked for. Empty if it is none. A name that ends in a number is an
// IPv4 address or nothing: some libraries take "127.1" and "0x7f000001" for one.
std::string checked_name(std::string_view text) {
  const auto allowed = [](char c) {
    return is_letter_or_digit(c) || c == '-' || c == '.' || c == '_';
  };
  if (!std::ranges::all_of(text, allowed)) return {};
  std::string host(text);
  std::string_view last = text;
  if (last.ends_with('.')) last.remove_suffix(1);
  last.remove_prefix(last.rfind('.') + 1);
  if (last.empty()) return {};
  const bool is_number = last.find_first_not_of("0123456789") == last.npos ||
                         last.starts_with("0x") || last.starts_with("0X");
  return is_number && !is_ipv4(host) ? std::string() : host;
}

// What RFC 3986 allows in a path and a query.
bool is_target(std::string_view text) {
  static constexpr std::string_view marks = "-._~!$&'()*+,;=:@/?";
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_letter_or_digit(text[i]) || marks.find(text[i]) != marks.npos) continue;
    if (text[i] != '%' || i + 2 >= text.size()) return false;
    if (!is_hex(text[i + 1]) || !is_hex(text[i + 2])) return false;
    i += 2;
  }
  return true;
}

// Takes "http://" or "https://" off; false if it is something else.
bool take_scheme(std::string_view& text, bool& tls) {
  for (const std::string_view scheme : {"https://", "http://"}) {
    const bool same = std::ranges::equal(text.substr(0, scheme.size()), scheme, [](char a, char b) {
      return a == b || (a >= 'A' && a <= 'Z' && a + ('a' - 'A') == b);
    });
    if (!same) continue;
    tls = scheme.size() == 8;
    text.remove_prefix(scheme.size());
    return true;
  }
  return false;
}

}  // namespace

std::string Url::host_header() const {
  return port == (tls ? 443 : 80) ? host : host + ":" + std::to_string(port);
}

std::string Url::text() const {
  return (tls ? "https://" : "http://") + host_header() + target;
}

std::string Url::address() const {
  return host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
}

bool Url::is_loopback() const {
  return host == "localhost" || host == "[::1]" || (host.starts_with("127.") && is_ipv4(host));
}

Result<Url> parse_http_url(std::string_view text) {
  Url url;
  std::string_view rest = text;
  if (!take_scheme(rest, url.tls)) return Error::invalid("must begin with http:// or https://");
  const auto end = std::min(rest.find_first_of("/?#"), rest.size());
  std::string_view authority = rest.substr(0, end);
  rest.remove_prefix(end);
  if (authority.find('@') != authority.npos)
    return Error::invalid("has a user name or a password in it").with_code(url_has_user);
  url.port = url.tls ? 443 : 80;
  const auto bracket = authority.rfind(']');
  if (const auto colon = authority.rfind(':');
      colon != authority.npos && (bracket == authority.npos || colon > bracket)) {
    const std::string_view port = authority.substr(colon + 1);
    const auto [stop, error] = std::from_chars(port.data(), port.data() + port.size(), url.port);
    if (error != std::errc() || stop != port.data() + port.size() || url.port == 0)
      return Error::invalid("has a port that is not between 1 and 65535");
    authority = authority.substr(0, colon);
  }
  if (authority.empty()) return Error::invalid("has no host");
  url.host = authority.starts_with('[') ? normal_ipv6(authority) : checked_name(authority);
  if (url.host.empty()) return Error::invalid("has a host that is neither a name nor an address");
  const auto fragment = rest.find('#');
  url.has_fragment = fragment != rest.npos;
  url.target = rest.substr(0, fragment);
  url.has_query = url.target.find('?') != std::string::npos;
  if (!is_target(url.target) || (url.has_fragment && !is_target(rest.substr(fragment + 1))))
    return Error::invalid("has characters that a URL may not have; write them as %xx");
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  return url;
}

std::string encode_segment(std::string_view text) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (is_letter_or_digit(c) || c == '-' || c == '_' || c == '.' || c == '~') {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    ((encoded += '%') += digits[byte >> 4]) += digits[byte & 15];
  }
  return encoded;
}

}  // namespace muster
