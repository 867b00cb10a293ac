#include <filesystem>
#include <fstream>
#include <signal.h>

#include <gtest/gtest.h>

#include "tests/integration/musterd_process.hpp"
#include "tests/support/certificate.hpp"
#include "tests/support/raw_client.hpp"
#include "tests/support/tls_client.hpp"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

class HttpsOfAProcess : public ::testing::Test {
 protected:
  HttpsOfAProcess() { make_certificate(); }
  void make_certificate() const {
    write_certificate(certificate, key, "IP:127.0.0.1");
    fs::permissions(key, fs::perms(0600));
  }
  std::string configuration() const {
    return "[http.tls]\ncertificateFile = \"" + certificate.string() + "\"\nkeyFile = \"" +
           key.string() + "\"\n";
  }

  TemporaryFolder folder;
  const fs::path certificate = folder / "certificate.pem", key = folder / "key.pem";
};

TEST_F(HttpsOfAProcess, a_key_that_others_may_read_stops_the_start) {
  fs::permissions(key, fs::perms(0644));
  std::ofstream(folder / "muster.toml") << "listen = \"127.0.0.1:0\"\ndataDirectory = \"data\"\n"
                                        << configuration();
  const Finished finished = run("musterd", {"--config", (folder / "muster.toml").string()});
  EXPECT_EQ(finished.exit_code, 5) << finished.output;
  EXPECT_NE(finished.output.find("chmod 600"), std::string::npos) << finished.output;
}

TEST_F(HttpsOfAProcess, the_client_follows_and_trusts_only_what_it_is_told) {
  Musterd musterd(configuration());
  cli::HostAddress address = musterd.address();
  EXPECT_TRUE(address.url.starts_with("https://127.0.0.1:")) << address.url;
  const auto refused = cli::HostClient(address).get("/api/muster/v1/status");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("--ca-file"), std::string::npos)
      << refused.error().message;
  const std::vector<std::string> status{"status", "--data-directory",
                                        musterd.data_directory().string()};
  EXPECT_NE(run("muster", status).exit_code, 0);
  const Finished trusted = run("muster", status, {{"MUSTER_CA_FILE", certificate.string()}});
  EXPECT_EQ(trusted.exit_code, 0) << trusted.output;
  EXPECT_NE(trusted.output.find("https://"), std::string::npos) << trusted.output;
}

TEST_F(HttpsOfAProcess, sighup_reads_a_renewed_certificate_and_refuses_a_broken_one) {
  Musterd musterd(configuration());
  TlsClient open(musterd.port());
  const std::string first = open.certificate();
  std::ofstream(certificate) << "nonsense";
  musterd.process().signal(SIGHUP);
  musterd.process().wait_for("the old certificate stays in use: ");
  EXPECT_EQ(TlsClient(musterd.port()).certificate(), first);
  make_certificate();
  musterd.process().signal(SIGHUP);
  musterd.process().wait_for("the certificate was read again");
  EXPECT_NE(TlsClient(musterd.port()).certificate(), first);
  open.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_NE(open.read_until("ok").find("200 OK"), std::string::npos);
}

TEST(MetricsOfAProcess, are_open_unless_a_token_is_demanded) {
  const auto scrape = [](Musterd& musterd, const std::string& header) {
    RawClient client(musterd.port());
    client.send("GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + header + "\r\n");
    return client.read_all();
  };
  Musterd open, closed("[http]\nmetricsNeedToken = true\n");
  const std::string text = scrape(open, "");
  EXPECT_NE(text.find("\nmuster_http_open_connections 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nmuster_build_info{version=\""), std::string::npos) << text;
  EXPECT_TRUE(scrape(closed, "").starts_with("HTTP/1.1 401 "));
  EXPECT_TRUE(scrape(closed, "Authorization: Bearer " + closed.address().token + "\r\n")
                  .starts_with("HTTP/1.1 200 "));
}

}  // namespace
}  // namespace muster::testing
