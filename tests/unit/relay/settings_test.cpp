#include "relay/settings.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/support/certificate.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::relay {
namespace {

namespace fs = std::filesystem;

struct SettingsTest : ::testing::Test {
  SettingsTest() {
    std::ofstream(folder / "token") << "some-token\n";
    fs::permissions(folder / "token", fs::perms(0600));
    testing::write_certificate(folder / "relay.pem", folder / "relay.key", "IP:127.0.0.1");
    fs::permissions(folder / "relay.key", fs::perms(0600));
  }
  Report read(const std::string& text) const {
    return read_settings_text(text, folder / "relay.toml",
                              [this](const char*) { return credentials; });
  }
  // All mistakes, one per line, without the folder.
  std::string mistakes(const std::string& text) const {
    std::string all;
    for (const config::Mistake& mistake : read(text).mistakes)
      all += config::to_string(mistake, "relay.toml") + "\n";
    for (auto at = all.find(folder.path().string()); at != all.npos;
         at = all.find(folder.path().string()))
      all.replace(at, folder.path().string().size(), "FOLDER");
    return all;
  }

  static constexpr const char* head =
      "allowedNetworks = [\"10.1.0.0/16\"]\n"
      "allowedNames = [\"mac-*.dc1.example.com\"]\n";
  static constexpr const char* host =
      "[host]\nurl = \"https://muster.example.com\"\nproviderId = \"dc1\"\n"
      "clientId = \"relay/dc1\"\naccessTokenFile = \"token\"\n";
  static constexpr const char* tls =
      "[tls]\ncertificateFile = \"relay.pem\"\nkeyFile = \"relay.key\"\n";

  testing::TemporaryFolder folder;
  std::string credentials;
};

TEST_F(SettingsTest, what_is_missing_is_told_all_at_once) {
  const std::string all = mistakes("");
  EXPECT_NE(all.find("relay.toml:1:1: error: "), std::string::npos) << all;
  for (const char* key : {"allowedNetworks", "allowedNames", "host", "[tls]"})
    EXPECT_NE(all.find(key), std::string::npos) << key << "\n" << all;
}

TEST_F(SettingsTest, every_mistake_has_its_place_and_says_what_to_do) {
  const std::string all = mistakes(
      "listen = \"here\"\n"
      "allowedNetworks = [\"10.1.0.0/16\", \"10.1.0.0/33\"]\n"
      "allowedNames = [\n  \"mac-*.dc1\",\n  \"ma c\"]\n"
      "trustedProxys = []\n"
      "[host]\nurl = \"http://muster.example.com\"\nproviderId = \"d c\"\nclientId = "
      "\"relay/dc1\"\n"
      "accessTokenFile = \"nowhere\"\n"
      "[tls]\ncertificateFile = \"relay.pem\"\nkeyFile = \"none.key\"\n"
      "[dns]\nservers = [\"10.0.0.53\", \"localhost\"]\ntimeout = \"9s\"\n"
      "[cache]\nminTtl = \"10m\"\n"
      "[limits]\nburst = 0\n");
  for (const char* line :
       {"relay.toml:1:10: error: listen: ", "relay.toml:2:35: error: allowedNetworks[1]: ",
        "relay.toml:5:3: error: allowedNames[1]: ", "relay.toml:6:1: error: trustedProxys: ",
        "did you mean \"trustedProxies\"",
        "relay.toml:8:7: error: host.url: ", "relay.toml:9:14: error: host.providerId: ",
        "relay.toml:11:19: error: host.accessTokenFile: ",
        "relay.toml:13:19: error: tls.certificateFile: ",
        "relay.toml:16:25: error: dns.servers[1]: ", "relay.toml:17:11: error: dns.timeout: ",
        "relay.toml:19:10: error: cache.minTtl: ", "relay.toml:21:9: error: limits.burst: "})
    EXPECT_NE(all.find(line), std::string::npos) << line << "\n" << all;
}

TEST_F(SettingsTest, a_token_that_others_can_read_is_refused) {
  fs::permissions(folder / "token", fs::perms(0644));
  const std::string all = mistakes(std::string(head) + host + tls);
  EXPECT_NE(all.find("host.accessTokenFile: "), std::string::npos) << all;
  EXPECT_NE(all.find("chmod 600"), std::string::npos) << all;
  EXPECT_EQ(all.find("some-token"), std::string::npos) << all;
}

TEST_F(SettingsTest, plain_http_must_be_wanted_and_is_warned_about) {
  EXPECT_FALSE(read(std::string(head) + host).settings);
  const Report report =
      read("insecure = true\nlisten = \"0.0.0.0:1\"\n" + std::string(head) + host);
  ASSERT_TRUE(report.settings);
  ASSERT_EQ(report.mistakes.size(), 1u);
  EXPECT_EQ(report.mistakes[0].severity, config::Severity::warning);
  EXPECT_FALSE(report.settings->tls);
  EXPECT_FALSE(read("insecure = true\n" + std::string(head) + host + tls).settings);
}

TEST_F(SettingsTest, a_pattern_that_fits_everything_is_warned_about) {
  const Report report = read("allowedNetworks = [\"10.1.0.0/16\"]\nallowedNames = [\"**\"]\n" +
                             std::string(host) + tls);
  ASSERT_TRUE(report.settings);
  ASSERT_EQ(report.mistakes.size(), 1u);
  EXPECT_EQ(report.mistakes[0].key, "allowedNames[0]");
}

TEST_F(SettingsTest, without_a_token_file_systemd_hands_the_token_over) {
  std::string text = std::string(head) + host + tls;
  text.erase(text.find("accessTokenFile"), std::string("accessTokenFile = \"token\"\n").size());
  EXPECT_NE(mistakes(text).find("LoadCredential=relay-token:"), std::string::npos)
      << mistakes(text);
  credentials = folder.path();
  fs::rename(folder / "token", folder / "relay-token");
  const Report report = read(text);
  ASSERT_TRUE(report.settings) << mistakes(text);
  EXPECT_EQ(read_access_token(report.settings->host).value().reveal(), "some-token");
}

TEST_F(SettingsTest, defaults_are_those_of_the_documentation) {
  const Report report = read(std::string(head) + host + tls);
  ASSERT_TRUE(report.settings) << mistakes(std::string(head) + host + tls);
  EXPECT_TRUE(report.mistakes.empty());
  const Settings& settings = *report.settings;
  EXPECT_EQ(config::to_string(settings.listen), "127.0.0.1:8650");
  EXPECT_EQ(settings.dns.timeout, std::chrono::seconds(1));
  EXPECT_EQ(settings.cache.max_ttl, std::chrono::minutes(5));
  EXPECT_EQ(settings.rate.per_minute, 12u);
  EXPECT_TRUE(settings.operator_networks.contain(*parse_address("127.0.0.1")));
  EXPECT_FALSE(settings.operator_networks.contain(*parse_address("10.1.0.1")));
  EXPECT_EQ(settings.host.access_token_file, folder / "token");
}

TEST_F(SettingsTest, every_key_is_read) {
  const std::string text =
      "listen = \"[::]:8651\"\ntrustedProxies = [\"10.0.0.5\"]\noperatorNetworks = "
      "[\"10.9.0.0/24\"]\n"
      "shutdownDeadline = \"7s\"\n" +
      std::string(head) + host + "timeout = \"3s\"\nconcurrency = 3\ncaFile = \"relay.pem\"\n" +
      tls +
      "[http]\nthreads = 4\nmaxConnections = 5\nmaxConnectionsPerPeer = 6\naccessLog = true\n"
      "[dns]\nservers = [\"10.0.0.53\", \"10.0.0.54:5353\", \"2001:db8::53\", \"[::1]:54\"]\n"
      "timeout = \"200ms\"\ntries = 3\ndeadline = \"2s\"\nconcurrency = 9\nmaxNames = 4\n"
      "maxAliases = 5\n[cache]\nentries = 11\nminTtl = \"1s\"\nmaxTtl = \"2s\"\nnegativeTtl = "
      "\"3s\"\n"
      "[limits]\nrequestsPerMinute = 60\nburst = 2\n[audit]\nfile = \"audit\"\n"
      "[log]\nlevel = \"debug\"\nformat = \"json\"\n";
  const Report report = read(text);
  ASSERT_TRUE(report.settings) << mistakes(text);
  const Settings& settings = *report.settings;
  EXPECT_EQ(settings.dns.servers, (std::vector<std::string>{"10.0.0.53:53", "10.0.0.54:5353",
                                                            "[2001:db8::53]:53", "[::1]:54"}));
  EXPECT_EQ(settings.dns.tries, 3u);
  EXPECT_EQ(settings.dns.at_once, 9u);
  EXPECT_EQ(settings.names->max_names, 4u);
  EXPECT_EQ(settings.names->max_aliases, 5u);
  EXPECT_EQ(settings.cache.entries, 11u);
  EXPECT_EQ(settings.cache.negative_ttl, std::chrono::seconds(3));
  EXPECT_EQ(settings.rate, (RateSettings{60, 2}));
  EXPECT_EQ(settings.host.at_once, 3u);
  EXPECT_EQ(settings.host.timeout, std::chrono::seconds(3));
  EXPECT_EQ(settings.host.ca_file, folder / "relay.pem");
  EXPECT_EQ(settings.audit_file, folder / "audit");
  EXPECT_EQ(settings.max_connections_per_peer, 6u);
  EXPECT_EQ(settings.log_format, LogFormat::json);
  EXPECT_TRUE(settings.trusted_proxies.contain(*parse_address("10.0.0.5")));
  EXPECT_FALSE(settings.operator_networks.contain(*parse_address("127.0.0.1")));
  EXPECT_EQ(settings.shutdown_deadline, std::chrono::seconds(7));
}

TEST_F(SettingsTest, keys_that_need_a_restart_are_known) {
  const auto before = read(std::string(head) + host + tls).settings;
  const auto after = read("listen = \"127.0.0.1:1\"\n" + std::string(head) + host + tls +
                          "[dns]\ntries = 4\n[limits]\nburst = 3\n")
                         .settings;
  EXPECT_EQ(before->needs_restart(*after), (std::vector<std::string>{"listen", "dns"}));
}

}  // namespace
}  // namespace muster::relay
