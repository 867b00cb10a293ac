#include "lib/http/client_address.hpp"

#include <gtest/gtest.h>

#include "tests/unit/lib/http/test_server.hpp"

namespace muster::http {
namespace {

const Networks proxies = Networks::parse({"10.0.0.0/8", "2001:db8:ffff::/48"}).value();

// The address, and a "?" behind it if the proxy's word could not be used.
std::string from(const char* peer, const std::vector<std::string>& forwarded,
                 const Networks& trusted = proxies) {
  std::vector<Header> headers{{"Host", "a"}};
  for (const std::string& line : forwarded) headers.push_back({"x-forwarded-FOR", line});
  const ClientAddress client = client_address(parse_address(peer).value(), headers, trusted);
  return muster::to_string(client.address) + (client.problem.empty() ? "" : "?");
}

TEST(ClientAddressTest, what_no_proxy_wrote_is_not_believed) {
  EXPECT_EQ(from("192.0.2.1", {"203.0.113.1"}), "192.0.2.1");
  EXPECT_EQ(from("192.0.2.1", {"garbage"}), "192.0.2.1");
  EXPECT_EQ(from("10.0.0.1", {"203.0.113.1"}, {}), "10.0.0.1");
}

TEST(ClientAddressTest, the_last_address_that_is_no_proxys_counts) {
  EXPECT_EQ(from("10.0.0.1", {"203.0.113.1"}), "203.0.113.1");
  EXPECT_EQ(from("10.0.0.1", {"1.1.1.1, 203.0.113.1"}), "203.0.113.1");
  EXPECT_EQ(from("10.0.0.1", {"1.1.1.1,203.0.113.1 ,\t10.2.3.4"}), "203.0.113.1");
  // A proxy may add a line of its own: the first one is the client's.
  EXPECT_EQ(from("10.0.0.1", {"1.1.1.1", "203.0.113.1"}), "203.0.113.1");
  EXPECT_EQ(from("10.0.0.1", {"1.1.1.1", "203.0.113.1, 10.9.9.9", "10.1.1.1"}), "203.0.113.1");
  EXPECT_EQ(from("10.0.0.1", {"10.9.9.9", "203.0.113.1"}), "203.0.113.1");
}

TEST(ClientAddressTest, addresses_may_have_ports_and_be_of_ipv6) {
  EXPECT_EQ(from("10.0.0.1", {"203.0.113.1:4711"}), "203.0.113.1");
  EXPECT_EQ(from("10.0.0.1", {"[2001:db8::7]:4711"}), "2001:db8::7");
  EXPECT_EQ(from("10.0.0.1", {"[2001:db8::7]"}), "2001:db8::7");
  EXPECT_EQ(from("2001:db8:ffff::1", {"2001:db8::7, 2001:db8:ffff:1::2"}), "2001:db8::7");
  EXPECT_EQ(from("10.0.0.1", {"::ffff:203.0.113.1"}), "203.0.113.1");
  EXPECT_EQ(from("10.0.0.1", {"203.0.113.1, ::ffff:10.0.0.2"}), "203.0.113.1");
}

TEST(ClientAddressTest, of_garbage_the_last_trusted_proxy_is_the_sender) {
  for (const char* bad : {"unknown", "_hidden", "", ",", " ", "203.0.113", "203.0.113.1.", "::g",
                          "[2001:db8::7", "1.1.1.1 2.2.2.2", "203.0.113.1;a", "999.1.1.1"})
    EXPECT_EQ(from("10.0.0.1", {bad}), "10.0.0.1?") << bad;
  EXPECT_EQ(from("10.0.0.1", {}), "10.0.0.1?");
  EXPECT_EQ(from("10.0.0.1", {"1.1.1.1, unknown, 10.0.0.2"}), "10.0.0.2?");
  EXPECT_EQ(from("10.0.0.1", {"10.0.0.3, 10.0.0.2"}), "10.0.0.3?");
  // What is before the client's address is not looked at.
  EXPECT_EQ(from("10.0.0.1", {"garbage, 203.0.113.1"}), "203.0.113.1");
}

TEST(ClientAddressTest, requests_through_a_proxy_have_the_clients_limits_and_log_lines) {
  ServerSettings settings;
  settings.trusted_proxies = Networks::parse({"127.0.0.1"}).value();
  settings.peers.requests_per_second = 1;
  settings.peers.burst = 2;
  settings.peers.max_connections = 1;
  settings.peers.loopback_too = true;
  TestServer test(settings, [](Router& router) {
    router.add("GET", "/who", now([](const Request& request) {
                 return Response{200, {}, "<" + muster::to_string(*request.client_address()) + ">"};
               }));
  });
  auto idle = test.connect();  // a proxy may have more than one connection
  const auto ask = [&](const std::string& headers, int times) {
    const std::string request = "GET /who HTTP/1.1\r\nHost: a\r\n" + headers;
    std::string all;
    for (int i = 1; i < times; ++i) all += request + "\r\n";
    auto client = test.connect();
    client.send(all + request + "Connection: close\r\n\r\n");
    return client.read_all();
  };
  const std::string many =
      ask("X-Forwarded-For: 203.0.113.2\r\nX-Forwarded-For: 203.0.113.1\r\n", 20);
  EXPECT_NE(many.find("<203.0.113.1>"), std::string::npos);
  EXPECT_NE(many.find("HTTP/1.1 429 "), std::string::npos);
  EXPECT_TRUE(ask("X-Forwarded-For: 203.0.113.2\r\n", 1).ends_with("<203.0.113.2>"));
  EXPECT_TRUE(test.lines->contains("203.0.113.2"));
  test.server->trust_proxies({});
  // Now its connections count as anybody's.
  EXPECT_TRUE(ask("X-Forwarded-For: 203.0.113.3\r\n", 1).starts_with("HTTP/1.1 429 "));
}

}  // namespace
}  // namespace muster::http
