// Addresses and networks: "10.0.0.0/8", "2001:db8::/32", "192.0.2.7".
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/error.hpp>

namespace muster {

// IPv4 as its IPv6 form (::ffff:192.0.2.7), so that a listener for both treats them alike.
using Address = std::array<unsigned char, 16>;

std::optional<Address> parse_address(std::string_view text);
// Of a peer as requests have it: "192.0.2.7:4711", "[2001:db8::1]:4711".
std::optional<Address> address_of_peer(std::string_view peer);
// "192.0.2.7", "2001:db8::1"
std::string to_string(const Address& address);
// Who stands for whom when guesses are counted: one address, of IPv6 the /64 that one customer has.
Address counted_as(Address address);

class Networks {
 public:
  // Fails as `config` with the text that is no network.
  static Result<Networks> parse(const std::vector<std::string>& texts);
  bool contain(const Address& address) const;
  bool empty() const { return networks_.empty(); }

 private:
  struct Network {
    Address first;
    unsigned bits;  // of 128
  };
  std::vector<Network> networks_;
};

}  // namespace muster
