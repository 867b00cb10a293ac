#include "host/auth/signed_request.hpp"

#include <charconv>

#include "lib/hawk/hawk.hpp"

namespace muster::auth {
namespace {

std::optional<std::uint16_t> port_of(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

struct HostAndPort {
  std::string_view host;
  std::optional<std::uint16_t> port;
};

// "example.com", "example.com:8600", "[::1]:8600"
std::optional<HostAndPort> split_host(std::string_view text) {
  const auto bracket = text.starts_with('[') ? text.find(']') : 0;
  if (bracket == text.npos) return std::nullopt;
  const auto colon = text.find(':', bracket);
  HostAndPort split{text.substr(0, colon), std::nullopt};
  if (colon != text.npos && colon + 1 < text.size()) {
    split.port = port_of(text.substr(colon + 1));
    if (!split.port) return std::nullopt;
  }
  if (split.host.empty() || split.host.find_first_of("/ \t@?#\\") != text.npos) return std::nullopt;
  return split;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

// Of several proxies the first one's word counts.
std::optional<std::string_view> forwarded(const http::Request& request, std::string_view name) {
  const auto value = request.header(name);
  if (!value) return std::nullopt;
  return trimmed(value->substr(0, value->find(',')));
}

// The place of `bewit=` behind the last `?` or `&` that has it.
std::size_t place_of_bewit(std::string_view resource) {
  const auto question = resource.rfind("?bewit="), ampersand = resource.rfind("&bewit=");
  if (question == resource.npos) return ampersand;
  return ampersand == resource.npos ? question : std::max(question, ampersand);
}

Result<Bewit> bad_bewit(const char* why) {
  return Error::auth(why);
}

}  // namespace

Result<Authority::SignedRequest> signed_request_of(const http::Request& request) {
  const auto header = request.header("Host");
  const auto split = header ? split_host(*header) : std::nullopt;
  if (!split) return Error::auth("Bad Request: Invalid Host header");
  Authority::SignedRequest signed_request;
  signed_request.method = request.method;
  signed_request.resource = request.target();
  signed_request.host = split->host;
  signed_request.port = split->port.value_or(request.secure ? 443 : 80);
  if (const auto authorization = request.header("Authorization"))
    signed_request.authorization = *authorization;
  signed_request.sender = request.client_address();
  if (request.forwarded) {
    const auto port = forwarded(request, "X-Forwarded-Port");
    if (port)
      signed_request.port = port_of(*port).value_or(signed_request.port);
    else if (forwarded(request, "X-Forwarded-Proto") == "https")
      signed_request.port = 443;
  }
  return signed_request;
}

bool has_bewit(std::string_view resource) {
  return place_of_bewit(resource) != resource.npos;
}

Result<Bewit> parse_bewit(std::string_view method, std::string_view resource) {
  if (resource.size() > hawk::max_header_bytes)
    return bad_bewit("Bad Request: Resource path exceeds max length");
  const auto place = place_of_bewit(resource);
  const auto value_begins = place + std::string_view("?bewit=").size();
  const auto value_ends = std::min(resource.find('&', value_begins), resource.size());
  const auto encoded = resource.substr(value_begins, value_ends - value_begins);
  const auto rest = resource.substr(std::min(value_ends + 1, resource.size()));
  if (value_ends + 1 == resource.size() || encoded.find('$') != encoded.npos)
    return bad_bewit("Unauthorized");
  if (encoded.empty()) return bad_bewit("Unauthorized: Empty bewit");
  if (method != "GET" && method != "HEAD") return bad_bewit("Unauthorized: Invalid method");
  const auto text = encoded.find_first_of("+/=") == encoded.npos
                        ? hawk::from_any_base64(encoded)
                        : Error::invalid("another alphabet");
  if (!text) return bad_bewit("Bad Request: Invalid bewit encoding");
  std::vector<std::string> parts(1);
  for (const char c : *text)
    if (c == '\\')
      parts.emplace_back();
    else
      parts.back() += c;
  if (parts.size() != 4) return bad_bewit("Bad Request: Invalid bewit structure");
  if (parts[0].empty() || parts[1].empty() || parts[2].empty())
    return bad_bewit("Bad Request: Missing bewit attributes");
  std::string without(resource.substr(0, place));
  if (!rest.empty()) without.append(1, resource[place]).append(rest);
  return Bewit{parts[0], parts[1], parts[2], parts[3], std::move(without)};
}

}  // namespace muster::auth
