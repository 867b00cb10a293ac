#include "lib/http/client_address.hpp"

#include <strings.h>

namespace muster::http {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// A proxy may add a header of its own behind that of the client instead of extending it.
std::string all_forwarded(const std::vector<Header>& headers) {
  static constexpr std::string_view name = "X-Forwarded-For";
  std::string all;
  for (const Header& header : headers)
    if (header.name.size() == name.size() &&
        ::strncasecmp(header.name.data(), name.data(), name.size()) == 0) {
      if (!all.empty()) all += ',';
      all += header.value;
    }
  return all;
}

}  // namespace

ClientAddress client_address(const Address& peer, const std::vector<Header>& headers,
                             const Networks& proxies) {
  ClientAddress client{peer};
  if (proxies.empty() || !proxies.contain(peer)) return client;
  client.forwarded = true;
  const std::string all = all_forwarded(headers);
  if (all.empty()) {
    client.problem = "the proxy does not say for whom it asks";
    return client;
  }
  for (std::string_view rest = all;;) {
    const auto comma = rest.rfind(',');
    const auto next = address_of_peer(trimmed(comma == rest.npos ? rest : rest.substr(comma + 1)));
    if (!next) {
      client.problem = "the proxy's X-Forwarded-For holds something else than addresses";
      return client;
    }
    client.address = *next;
    if (!proxies.contain(*next)) return client;
    if (comma == rest.npos) break;
    rest = rest.substr(0, comma);
  }
  client.problem = "the proxy's X-Forwarded-For names nothing but proxies";
  return client;
}

}  // namespace muster::http
