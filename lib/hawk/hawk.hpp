// Hawk, as Taskcluster uses it: what is signed, how, and how the header is written. Both sides
// of a request use the same functions; who may do what is decided elsewhere.
//
// Pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <muster/context.hpp>
#include <muster/error.hpp>

#include "lib/base/secret.hpp"
#include "lib/url/url.hpp"

namespace muster::hawk {

// What a signature covers in addition to the attributes.
struct Request {
  std::string method;    // "GET"
  std::string resource;  // path and query exactly as they are sent, `%2F` and all
  std::string host;      // as in the Host header, without the port
  std::uint16_t port = 0;
};

// Of the Authorization header, as text: a signature covers the exact characters.
struct Attributes {
  std::string id = {}, ts = {}, nonce = {}, hash = {}, ext = {}, mac = {}, app = {}, dlg = {};
  friend bool operator==(const Attributes&, const Attributes&) = default;
};

// Seconds by which two clocks may differ.
inline constexpr std::int64_t max_skew_seconds = 15 * 60;
inline constexpr std::size_t max_header_bytes = 16 * 1024;

// The text that is signed; `kind` is "header" or "bewit".
std::string normalized(std::string_view kind, const Attributes& attributes, const Request& request);
// base64 of HMAC-SHA256.
std::string mac_of(const Secret& key, std::string_view text);
// Takes the same time wherever they differ.
bool same_mac(std::string_view a, std::string_view b);
// What `hash` must be for this body. Of the content type only the part before `;` counts.
std::string payload_hash(std::string_view content_type, std::string_view body);

// `Hawk id="...", ts="...", ...`, without the attributes that are empty.
std::string format_header(const Attributes& attributes);
// Fails as `auth`, saying what is wrong: another scheme, an attribute that is unknown or there
// twice, characters that no attribute has. Attributes that must be there are: id, ts, nonce, mac.
inline constexpr std::string_view other_scheme = "Incorrect scheme";
Result<Attributes> parse_header(std::string_view header, std::size_t max_bytes = max_header_bytes);

// Whose requests are signed. The certificate (JSON) makes them temporary credentials.
struct Credentials {
  std::string client_id;
  Secret access_token{""};
  std::string certificate = {};
};

// What `ext` says for these credentials; empty for permanent ones.
std::string ext_of(const Credentials& credentials);

// The whole header. `hash` is the payload_hash() of the body, or empty if the body is not signed.
// `seconds` is the server's time as far as we know it, `nonce` is anything that was not used before
// in that second.
std::string authorization(const Credentials& credentials, const Request& request,
                          std::int64_t seconds, const std::string& nonce,
                          const std::string& hash = {});

// The same for a request to `url` at `server_time`, with a random nonce.
std::string authorization_for(const Credentials& credentials, const std::string& method,
                              const Url& url, Time server_time, const std::string& hash = {});

// A server that refuses our clock says its own time, signed with our key: `Hawk ts="..", tsm=".."`
// in WWW-Authenticate. Nothing if it is not there or the signature is wrong.
Result<std::int64_t> server_time(std::string_view www_authenticate, const Secret& key);

// That header, for a client whose clock is wrong.
std::string time_challenge(std::int64_t seconds, const Secret& key);

std::string base64(std::string_view bytes);
Result<std::string> from_base64(std::string_view text);
// With either alphabet, with or without `=` at its end: what clients in many languages send.
Result<std::string> from_any_base64(std::string_view text);

}  // namespace muster::hawk
