// URLs of HTTP servers. The only place that takes one apart.
//
// Pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <muster/error.hpp>

namespace muster {

struct Url {
  bool tls = false;        // https
  std::string host;        // as in a Host header: an IPv6 address is in brackets, and normalized
  std::uint16_t port = 0;  // the scheme's own if the URL names none
  std::string target;      // path and query exactly as they are sent; at least "/"
  bool has_query = false;
  bool has_fragment = false;  // a fragment is never sent, so it is no part of the target

  // With the port only if it is not the scheme's own.
  std::string host_header() const;
  // The whole URL without its fragment.
  std::string text() const;
  // The host without brackets, as resolvers and certificates spell it.
  std::string address() const;
  // "localhost" and the addresses of this machine.
  bool is_loopback() const;
  friend bool operator==(const Url&, const Url&) = default;
};

// Accepts http and https only. Refuses a user name or a password, which would end up in logs, and
// every character that RFC 3986 does not allow (white space, control characters, bytes above 127).
// Fails as `invalid`; the message continues a sentence that names the URL ("has no host") and never
// repeats it, because it may hold a secret. The code says whether it does.
inline constexpr const char* url_has_user = "urlHasUser";
Result<Url> parse_http_url(std::string_view text);

// "provider/ec2" → "provider%2Fec2": one segment of a path or one value of a query.
std::string encode_segment(std::string_view text);

}  // namespace muster
