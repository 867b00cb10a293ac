#include "lib/base/networks.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

Address address(const char* text) {
  return parse_address(text).value();
}

TEST(NetworksTest, refuses_what_is_no_network) {
  for (const char* bad : {"", "x", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8x", "10.0.0/8", "/8",
                          "2001:db8::/129", "10.0.0.0/", "10.0.0.1 "})
    EXPECT_FALSE(Networks::parse({bad})) << bad;
}

TEST(NetworksTest, contain_what_begins_like_them) {
  const auto networks = Networks::parse({"10.0.0.0/9", "2001:db8::/33", "192.0.2.7"}).value();
  for (const char* inside : {"10.127.255.255", "2001:db8:7fff::1", "192.0.2.7", "::ffff:10.1.2.3"})
    EXPECT_TRUE(networks.contain(address(inside))) << inside;
  for (const char* outside : {"10.128.0.0", "2001:db8:8000::", "192.0.2.6", "::1"})
    EXPECT_FALSE(networks.contain(address(outside))) << outside;
  EXPECT_TRUE(Networks::parse({"0.0.0.0/0"}).value().contain(address("8.8.8.8")));
  EXPECT_FALSE(Networks::parse({"0.0.0.0/0"}).value().contain(address("2001:db8::1")));
}

TEST(NetworksTest, peers_have_addresses_with_ports) {
  EXPECT_EQ(address_of_peer("192.0.2.7:1"), address("192.0.2.7"));
  EXPECT_EQ(address_of_peer("[2001:db8::1]:1"), address("2001:db8::1"));
  for (const char* bad : {"", "[", "[]", "x:1", ":1", "[::1"}) EXPECT_FALSE(address_of_peer(bad));
}

}  // namespace
}  // namespace muster
