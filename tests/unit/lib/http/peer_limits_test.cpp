#include "lib/http/peer_limits.hpp"

#include <gtest/gtest.h>

#include "tests/unit/lib/http/test_server.hpp"

namespace muster::http {
namespace {

using namespace std::chrono_literals;

PeerAddress v4(unsigned char last) {
  return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last};
}
PeerAddress v6(unsigned char network, unsigned char last) {
  return {0x20, 1, 0xd, 0xb8, 0, 0, 0, network, 0, 0, 0, 0, 0, 0, 0, last};
}
const PeerAddress loopback{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};

class PeerLimitsTest : public ::testing::Test {
 protected:
  SteadyTime now{1000s};
  PeerSettings settings{.max_connections = 2, .requests_per_second = 10, .burst = 5};
};

TEST_F(PeerLimitsTest, a_peer_gets_so_many_connections_and_its_places_back) {
  PeerLimits limits(settings, 100);
  auto first = limits.admit(v4(1), now);
  auto second = limits.admit(v4(1), now);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(limits.admit(v4(1), now));
  EXPECT_TRUE(limits.admit(v4(2), now));
  first.reset();
  EXPECT_TRUE(limits.admit(v4(1), now));
}

TEST_F(PeerLimitsTest, who_has_one_address_of_a_v6_network_has_all) {
  PeerLimits limits(settings, 100);
  const auto first = limits.admit(v6(1, 1), now);
  const auto second = limits.admit(v6(1, 2), now);
  EXPECT_FALSE(limits.admit(v6(1, 3), now));
  EXPECT_TRUE(limits.admit(v6(2, 1), now));
}

TEST_F(PeerLimitsTest, this_machine_is_limited_only_on_demand) {
  PeerLimits open(settings, 100);
  std::vector<std::unique_ptr<Seat>> seats;
  for (int i = 0; i < 10; ++i) {
    seats.push_back(open.admit(loopback, now));
    ASSERT_TRUE(seats.back());
    EXPECT_EQ(seats.back()->peer()->charge(settings, now), 0ns);
  }
  settings.loopback_too = true;
  PeerLimits closed(settings, 100);
  const auto first = closed.admit(loopback, now), second = closed.admit(loopback, now);
  EXPECT_FALSE(closed.admit(loopback, now));
}

TEST_F(PeerLimitsTest, requests_come_in_a_burst_and_then_at_the_rate) {
  PeerLimits limits(settings, 100);
  const auto seat = limits.admit(v4(1), now);
  Peer& peer = *seat->peer();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(peer.charge(settings, now), 0ns) << i;
  EXPECT_EQ(peer.charge(settings, now), 100ms);
  EXPECT_EQ(peer.charge(settings, now + 99ms), 1ms);
  EXPECT_EQ(peer.charge(settings, now + 100ms), 0ns);
  EXPECT_GT(peer.charge(settings, now + 100ms), 0ns);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(peer.charge(settings, now + 1h), 0ns);
  EXPECT_GT(peer.charge(settings, now + 1h), 0ns);
  settings.requests_per_second = 0;
  EXPECT_EQ(peer.charge(settings, now), 0ns);
}

TEST_F(PeerLimitsTest, going_and_coming_back_gains_nothing) {
  PeerLimits limits(settings, 100);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(limits.admit(v4(1), now)->peer()->charge(settings, now), 0ns);
  EXPECT_GT(limits.admit(v4(1), now)->peer()->charge(settings, now), 0ns);
}

TEST_F(PeerLimitsTest, forgets_the_quiet_ones_before_it_grows) {
  PeerLimits limits(settings, 4);
  const auto stays = limits.admit(v4(1), now);
  for (unsigned char i = 2; i < 200; ++i) {
    const auto passes = limits.admit(v4(i), now);
    passes->peer()->charge(settings, now);  // busy, so that only room can make it go
    EXPECT_LE(limits.known(), 4u);
  }
  const auto second = limits.admit(v4(1), now);
  EXPECT_FALSE(limits.admit(v4(1), now));  // it was remembered
}

TEST(ServerLimits, one_peer_does_not_take_all_connections) {
  ServerSettings settings;
  settings.peers = {.max_connections = 1, .loopback_too = true};
  TestServer test(settings);
  {
    auto first = test.connect();
    first.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
    first.read_until("hello");
    auto second = test.connect();
    const std::string answer = second.read_all();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 429 Too Many Requests\r\n")) << answer;
    EXPECT_NE(answer.find("\r\nRetry-After: 1\r\n"), std::string::npos);
  }
}

TEST(ServerLimits, too_many_requests_are_told_when_to_come_back) {
  ServerSettings settings;
  settings.peers = {.requests_per_second = 1, .burst = 3, .loopback_too = true};
  TestServer test(settings);
  auto client = test.connect();
  std::string requests;
  for (int i = 0; i < 20; ++i) requests += "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";
  client.send(requests + "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string answers = client.read_all();
  EXPECT_TRUE(answers.starts_with("HTTP/1.1 200 OK"));
  EXPECT_NE(answers.find("HTTP/1.1 429 Too Many Requests"), std::string::npos);
  EXPECT_NE(answers.find("\r\nRetry-After: "), std::string::npos);
  EXPECT_NE(answers.find("\"TooManyRequests\""), std::string::npos);
}

}  // namespace
}  // namespace muster::http
