#include "lib/base/networks.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <cstring>

namespace muster {
namespace {

constexpr Address mapped_v4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool is_v4(const Address& address) {
  return std::equal(mapped_v4.begin(), mapped_v4.begin() + 12, address.begin());
}

Address first_bits(Address address, unsigned bits) {
  for (unsigned i = 0; i < address.size(); ++i) {
    const unsigned kept = bits > 8 * i ? std::min(8u, bits - 8 * i) : 0;
    address[i] = static_cast<unsigned char>(address[i] & (0xff00u >> kept));
  }
  return address;
}

}  // namespace

std::optional<Address> parse_address(std::string_view text) {
  char copy[INET6_ADDRSTRLEN + 1] = {};
  if (text.empty() || text.size() >= sizeof copy) return std::nullopt;
  std::memcpy(copy, text.data(), text.size());
  Address address = mapped_v4;
  if (::inet_pton(AF_INET, copy, address.data() + 12) == 1) return address;
  if (::inet_pton(AF_INET6, copy, address.data()) == 1) return address;
  return std::nullopt;
}

std::optional<Address> address_of_peer(std::string_view peer) {
  if (peer.starts_with('[')) {
    const auto end = peer.find(']');
    return end == peer.npos ? std::nullopt : parse_address(peer.substr(1, end - 1));
  }
  const auto colon = peer.find(':');
  if (colon != peer.npos && colon == peer.rfind(':')) peer = peer.substr(0, colon);
  return parse_address(peer);
}

std::string to_string(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool v4 = is_v4(address);
  ::inet_ntop(v4 ? AF_INET : AF_INET6, address.data() + (v4 ? 12 : 0), text.data(), text.size());
  return text.data();
}

Address counted_as(Address address) {
  return is_v4(address) ? address : first_bits(address, 64);
}

Result<Networks> Networks::parse(const std::vector<std::string>& texts) {
  Networks networks;
  for (const std::string& text : texts) {
    const auto slash = text.find('/');
    const auto address = parse_address(std::string_view(text).substr(0, slash));
    const Error wrong = Error::config("`" + text +
                                      "` is not a network: write 10.0.0.0/8, 2001:db8::/32 "
                                      "or a single address");
    if (!address) return wrong;
    const unsigned offset = is_v4(*address) && text.find(':') == text.npos ? 96 : 0;
    unsigned bits = 128 - offset;
    if (slash != text.npos) {
      const char *from = text.data() + slash + 1, *to = text.data() + text.size();
      const unsigned most = bits;
      const auto [end, error] = std::from_chars(from, to, bits);
      if (error != std::errc() || end != to || bits > most) return wrong;
    }
    networks.networks_.push_back({first_bits(*address, bits + offset), bits + offset});
  }
  return networks;
}

bool Networks::contain(const Address& address) const {
  return std::any_of(networks_.begin(), networks_.end(), [&](const Network& network) {
    return first_bits(address, network.bits) == network.first;
  });
}

}  // namespace muster
