#include "relay/sender.hpp"

#include <gtest/gtest.h>

#include "relay/dns_name.hpp"

namespace muster::relay {
namespace {

struct SenderCase {
  const char* what;
  const char* peer;
  std::vector<http::Header> headers;
  const char* sender;  // empty: it is refused
};

std::string sender(const SenderCase& c, const std::vector<std::string>& proxies) {
  http::Request request;
  request.peer = c.peer;
  request.headers = c.headers;
  const auto found = sender_of(request, Networks::parse(proxies).value());
  return found ? to_text(*found) : "";
}

TEST(Sender, without_proxies_no_header_is_looked_at) {
  const std::vector<http::Header> forged{
      {"X-Forwarded-For", "10.1.0.1"}, {"Forwarded", "for=10.1.0.1"}, {"X-Real-IP", "10.1.0.1"}};
  for (const SenderCase& c : std::initializer_list<SenderCase>{
           {"IPv4", "10.1.0.7:4711", forged, "10.1.0.7"},
           {"IPv6", "[2001:db8::7]:4711", forged, "2001:db8::7"},
           {"IPv4 in IPv6", "[::ffff:10.1.0.7]:4711", forged, "10.1.0.7"},
           {"a link-local address", "[fe80::1%eth0]:4711", forged, ""},
           {"a peer that has gone", "", forged, ""},
       })
    EXPECT_EQ(sender(c, {}), c.sender) << c.what;
}

TEST(Sender, behind_a_proxy_is_the_last_address_that_is_no_proxys) {
  const std::string header = "x-forwarded-FOR";
  for (const SenderCase& c : std::initializer_list<SenderCase>{
           {"a stranger who writes the header", "10.1.0.7:1", {{header, "10.1.0.1"}}, "10.1.0.7"},
           {"the proxy's word", "10.0.0.5:1", {{header, "10.1.0.7"}}, "10.1.0.7"},
           {"the proxy by IPv6", "[::ffff:10.0.0.5]:1", {{header, "10.1.0.7"}}, "10.1.0.7"},
           {"forged before the proxy's word",
            "10.0.0.5:1",
            {{header, "10.1.0.1, 10.1.0.7"}},
            "10.1.0.7"},
           {"forged in a header of its own",
            "10.0.0.5:1",
            {{header, "10.1.0.1"}, {header, "10.1.0.7"}},
            "10.1.0.7"},
           {"forged with the proxy's own address",
            "10.0.0.5:1",
            {{header, "10.1.0.1, 10.0.0.5, 10.1.0.7"}},
            "10.1.0.7"},
           {"forged with nonsense", "10.0.0.5:1", {{header, "nonsense, 10.1.0.7"}}, "10.1.0.7"},
           {"two proxies", "10.0.0.5:1", {{header, "10.1.0.1, 10.1.0.7, 10.0.0.6"}}, "10.1.0.7"},
           {"with ports and spaces", "10.0.0.5:1", {{header, " \t10.1.0.7:99 "}}, "10.1.0.7"},
           {"IPv6", "10.0.0.5:1", {{header, "2001:db8::7"}}, "2001:db8::7"},
           {"IPv6 with a port", "10.0.0.5:1", {{header, "[2001:db8::7]:99"}}, "2001:db8::7"},
           {"IPv4 in IPv6", "10.0.0.5:1", {{header, "::ffff:10.1.0.7"}}, "10.1.0.7"},
           {"no header", "10.0.0.5:1", {}, ""},
           {"an empty header", "10.0.0.5:1", {{header, ""}}, ""},
           {"nonsense last", "10.0.0.5:1", {{header, "10.1.0.7, unknown"}}, ""},
           {"nothing last", "10.0.0.5:1", {{header, "10.1.0.7,"}}, ""},
           {"nothing but proxies", "10.0.0.5:1", {{header, "10.0.0.6, 10.0.0.5"}}, ""},
       })
    EXPECT_EQ(sender(c, {"10.0.0.0/24"}), c.sender) << c.what;
}

}  // namespace
}  // namespace muster::relay
