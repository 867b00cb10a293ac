#include "relay/sender.hpp"

#include <strings.h>

namespace muster::relay {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// A proxy may add a header of its own behind that of the client instead of extending it.
std::string all_forwarded(const http::Request& request) {
  static constexpr std::string_view name = "X-Forwarded-For";
  std::string all;
  for (const http::Header& header : request.headers)
    if (header.name.size() == name.size() &&
        ::strncasecmp(header.name.data(), name.data(), name.size()) == 0) {
      if (!all.empty()) all += ',';
      all += header.value;
    }
  return all;
}

}  // namespace

Result<Address> sender_of(const http::Request& request, const Networks& proxies) {
  const auto peer = address_of_peer(request.peer);
  if (!peer) return Error::auth("the address of the connection cannot be used");
  if (proxies.empty() || !proxies.contain(*peer)) return *peer;
  const std::string all = all_forwarded(request);
  if (all.empty()) return Error::auth("the proxy does not say for whom it asks");
  for (std::string_view rest = all;;) {
    const auto comma = rest.rfind(',');
    const auto address =
        address_of_peer(trimmed(comma == rest.npos ? rest : rest.substr(comma + 1)));
    if (!address)
      return Error::auth("the proxy's X-Forwarded-For holds something else than addresses");
    if (!proxies.contain(*address)) return *address;
    if (comma == rest.npos) break;
    rest = rest.substr(0, comma);
  }
  return Error::auth("the proxy's X-Forwarded-For names nothing but proxies");
}

}  // namespace muster::relay
