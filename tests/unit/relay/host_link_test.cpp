#include "relay/host_link.hpp"

#include <thread>

#include <gtest/gtest.h>

#include "tests/support/certificate.hpp"
#include "tests/support/recorded_log.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/relay/fake_host.hpp"

namespace muster::relay {
namespace {

struct HostLinkTest : ::testing::Test {
  HostLink link(const std::string& url, const std::string& token, const std::string& ca = "") {
    HostSettings settings;
    settings.url = url;
    settings.client_id = "relay/dc1";
    settings.provider_id = "dc1";
    settings.timeout = std::chrono::seconds(10);
    settings.ca_file = ca;
    return HostLink(
        settings, [this]() -> Result<Secret> { return Secret(in_the_file); }, Secret(token),
        Log(lines, LogLevel::debug, LogFormat::json));
  }

  std::string in_the_file = "the-relays-own-token";
  std::shared_ptr<testing::RecordedLog> lines = std::make_shared<testing::RecordedLog>();
  FakeHost host;
};

TEST_F(HostLinkTest, a_token_that_is_not_accepted_is_told_and_never_logged) {
  in_the_file = "another-wrong-token";
  HostLink wrong = link(host.url(), "some-wrong-token");
  EXPECT_EQ(wrong.register_machine({}).status, 401);
  EXPECT_TRUE(host.bodies().empty());
  for (const std::string& line : lines->lines())
    EXPECT_EQ(line.find("wrong-token"), std::string::npos) << line;
}

TEST_F(HostLinkTest, a_host_that_is_not_there_is_an_error) {
  HostLink unreachable = link("http://127.0.0.1:1", "the-relays-own-token");
  const HostAnswer answer = unreachable.register_machine({});
  EXPECT_EQ(answer.status, 0);
  EXPECT_FALSE(answer.error.empty());
  EXPECT_FALSE(unreachable.reach());
}

TEST_F(HostLinkTest, a_stranger_with_the_hosts_address_gets_nothing) {
  const testing::TemporaryFolder folder;
  testing::write_certificate(folder / "own.pem", folder / "own.key", "IP:127.0.0.1");
  testing::write_certificate(folder / "other.pem", folder / "other.key", "IP:127.0.0.1");
  std::filesystem::permissions(folder / "own.key", std::filesystem::perms(0600));
  FakeHost secure(http::TlsFiles{folder / "own.pem", folder / "own.key"});
  HostLink distrusting =
      link(secure.url("https"), "the-relays-own-token", (folder / "other.pem").string());
  EXPECT_EQ(distrusting.register_machine({}).status, 0);
  EXPECT_TRUE(secure.bodies().empty());
  HostLink trusting =
      link(secure.url("https"), "the-relays-own-token", (folder / "own.pem").string());
  EXPECT_EQ(trusting.register_machine({}).status, 200);
}

TEST_F(HostLinkTest, signs_what_it_sends_and_hands_back_what_comes) {
  HostLink good = link(host.url(), "the-relays-own-token");
  host.good = {410, {{"Retry-After", "77"}}, "gone"};
  const HostAnswer answer = good.register_machine({{"hostName", "m1.dc"}});
  EXPECT_EQ(answer.status, 410);
  EXPECT_EQ(answer.body, "gone");
  EXPECT_EQ(answer.retry_after, std::chrono::seconds(77));
  ASSERT_EQ(host.bodies().size(), 1u);
  EXPECT_EQ(host.bodies()[0], (json::object{{"hostName", "m1.dc"}}));
  EXPECT_TRUE(good.reach());
}

TEST_F(HostLinkTest, calls_at_the_same_time_share_connections_that_are_kept) {
  HostLink busy = link(host.url(), "the-relays-own-token");
  constexpr std::size_t at_once = 4;
  std::vector<std::thread> callers;
  for (std::size_t i = 0; i < at_once; ++i)
    callers.emplace_back([&] {
      for (int call = 0; call < 10; ++call) EXPECT_EQ(busy.register_machine({}).status, 200);
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(host.bodies().size(), 10 * at_once);
  EXPECT_LE(host.connections(), at_once);
}

TEST_F(HostLinkTest, corrects_its_clock_by_the_hosts) {
  host.seconds_ahead = 86'400;
  HostLink good = link(host.url(), "the-relays-own-token");
  EXPECT_EQ(good.register_machine({}).status, 200);
  EXPECT_TRUE(lines->contains("clock differs"));
}

TEST_F(HostLinkTest, takes_a_new_token_from_its_file) {
  HostLink old = link(host.url(), "the-token-of-last-year");
  EXPECT_EQ(old.register_machine({}).status, 200);
}

}  // namespace
}  // namespace muster::relay
