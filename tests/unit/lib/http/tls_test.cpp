#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "lib/metrics/metrics.hpp"
#include "tests/support/certificate.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tls_client.hpp"
#include "tests/unit/lib/http/test_server.hpp"

namespace muster::http {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

const std::string hello_please = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";

// Large pieces, one after the other.
class Counting final : public Stream {
 public:
  More pull(std::string& out) override {
    out += std::string(30'000, static_cast<char>('0' + said_));
    return ++said_ == 9 ? More::end : More::yes;
  }

 private:
  int said_ = 0;
};

class TlsTest : public ::testing::Test {
 protected:
  TlsTest() { make_certificate(); }

  void make_certificate() {
    testing::write_certificate(files.certificate, files.key, "IP:127.0.0.1");
    fs::permissions(files.key, fs::perms(0600));
  }
  void start(ServerSettings settings = {}) {
    settings.tls = files;
    test = std::make_unique<TestServer>(settings, [](Router& router) {
      router.add(
          "GET", "/count", now([](const Request& request) {
            return Response{request.secure ? 200 : 500, {}, "", std::make_shared<Counting>()};
          }));
    });
  }
  testing::TlsClient connect(int version = 0) {
    return testing::TlsClient(test->server->port(), version);
  }
  bool still_serves() {
    auto client = connect();
    client.send("GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    return client.read_all().ends_with("\r\n\r\nhello");
  }
  double refused(const std::string& reason) {
    metrics::Page page;
    test->server->write_metrics(page);
    const std::string text = page.text();
    const std::string line = "reason=\"" + reason + "\"} ";
    return std::stod(text.substr(text.find(line) + line.size()));
  }

  testing::TemporaryFolder folder;
  TlsFiles files{folder / "certificate.pem", folder / "key.pem"};
  std::unique_ptr<TestServer> test;
};

TEST_F(TlsTest, files_that_do_not_do_are_refused_with_a_sentence) {
  const auto problem = [&](const TlsFiles& given) {
    const auto loaded = TlsContext::load(given);
    return loaded ? std::string() : loaded.error().message;
  };
  EXPECT_EQ(problem(files), "");
  fs::permissions(files.key, fs::perms(0640));
  EXPECT_NE(problem(files).find("chmod 600"), std::string::npos) << problem(files);
  fs::permissions(files.key, fs::perms(0600));
  EXPECT_NE(problem({folder / "none", files.key}).find("none"), std::string::npos);
  EXPECT_NE(problem({files.certificate, folder / "none"}).find("none"), std::string::npos);
  EXPECT_NE(problem({files.key, files.key}).find("the certificate in "), std::string::npos);
  fs::copy(files.certificate, folder / "not-a-key");
  fs::permissions(folder / "not-a-key", fs::perms(0600));
  EXPECT_NE(problem({files.certificate, folder / "not-a-key"}).find("without a passphrase"),
            std::string::npos);
  testing::write_certificate(folder / "other.pem", folder / "other-key.pem", "IP:127.0.0.1");
  fs::permissions(folder / "other-key.pem", fs::perms(0600));
  EXPECT_NE(problem({files.certificate, folder / "other-key.pem"}).find("does not belong"),
            std::string::npos);
}

TEST_F(TlsTest, serves_requests_one_after_the_other_and_pipelined) {
  start();
  auto client = connect();
  for (int i = 0; i < 3; ++i) {
    client.forget();
    client.send(hello_please);
    EXPECT_TRUE(client.read_until("\r\n\r\nhello").ends_with("hello"));
  }
  client.forget();
  client.send(hello_please + hello_please +
              "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string answers = client.read_all();
  EXPECT_EQ(answers.find("Connection: close"), answers.rfind("Connection: close"));
  EXPECT_TRUE(answers.ends_with("hello"));
  EXPECT_TRUE(client.ended_well());
}

TEST_F(TlsTest, large_bodies_come_back_whole) {
  start();
  auto client = connect();
  std::string body;
  for (int i = 0; i < 300'000; ++i) body += std::to_string(i);
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_TRUE(client.read_all().ends_with("\r\n\r\n" + body));
}

TEST_F(TlsTest, streams_come_whole_and_end_well) {
  start();
  auto client = connect();
  client.send("GET /count HTTP/1.0\r\n\r\n");
  const std::string answer = client.read_all();
  std::string expected = "\r\n\r\n";
  for (char digit = '0'; digit < '9'; ++digit) expected += std::string(30'000, digit);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(answer.ends_with(expected));
  EXPECT_TRUE(client.ended_well());
}

TEST_F(TlsTest, old_versions_are_refused_and_counted) {
  start();
  EXPECT_THROW(connect(testing::TlsClient::version_1_1), std::runtime_error);
  EXPECT_NO_THROW(connect(testing::TlsClient::version_1_2));
  EXPECT_TRUE(still_serves());
  EXPECT_EQ(refused("tlsHandshake"), 1);
}

TEST_F(TlsTest, plain_http_is_answered_in_words) {
  start();
  auto client = test->connect();
  client.send(hello_please);
  const std::string answer = client.read_all();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 Bad Request\r\n")) << answer;
  EXPECT_NE(answer.find("this port speaks HTTPS"), std::string::npos) << answer;
  EXPECT_EQ(refused("plainTextToTls"), 1);
  EXPECT_TRUE(still_serves());
}

TEST_F(TlsTest, garbage_truncation_and_silence_disturb_nobody) {
  ServerSettings settings;
  settings.header_timeout = 50ms;
  start(settings);
  auto garbage = test->connect();
  garbage.send("\x16\x03\x01\x02\x03" + std::string(600, 'x'));
  garbage.read_all();
  auto half = test->connect();
  half.send("\x16\x03\x01");  // and then nothing: the header's time covers the handshake
  half.read_all();
  auto cut = test->connect();
  cut.send("\x16");
  cut.finish_sending();
  cut.read_all();
  auto silent = test->connect();
  EXPECT_EQ(silent.read_all(), "");
  EXPECT_TRUE(still_serves());
}

TEST_F(TlsTest, a_new_certificate_is_shown_to_new_connections_and_a_broken_one_to_none) {
  start();
  auto old = connect();
  old.send(hello_please);
  old.read_until("hello");
  const std::string first = old.certificate();
  std::ofstream(files.certificate) << "nonsense";
  const auto broken = test->server->replace_certificate(files);
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find(files.certificate.string()), std::string::npos);
  EXPECT_EQ(connect().certificate(), first);
  make_certificate();
  ASSERT_TRUE(test->server->replace_certificate(files));
  EXPECT_NE(connect().certificate(), first);
  old.forget();
  old.send(hello_please);  // the one that was open lives on
  EXPECT_TRUE(old.read_until("hello").ends_with("hello"));
  EXPECT_GT(test->server->certificate_expires()->time_since_epoch(), 0s);
}

TEST_F(TlsTest, a_client_that_does_not_read_is_closed) {
  ServerSettings settings;
  settings.write_timeout = 100ms;
  settings.limits.max_body_bytes = 64 << 20;
  start(settings);
  auto client = connect();
  const std::string body(32 << 20, 'b');
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\n\r\n" + body);
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (test->server->connections() > 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::yield();
  EXPECT_EQ(test->server->connections(), 0u);
  EXPECT_TRUE(still_serves());
}

TEST_F(TlsTest, many_clients_at_once_are_served_and_drained) {
  start();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) EXPECT_TRUE(still_serves());
    });
  for (std::thread& thread : threads) thread.join();
  auto idle = connect();
  idle.send(hello_please);
  idle.read_until("hello");
  std::promise<void> drained;
  test->server->drain([&] { drained.set_value(); });
  idle.read_all();
  EXPECT_TRUE(idle.ended_well());
  EXPECT_EQ(drained.get_future().wait_for(10s), std::future_status::ready);
}

}  // namespace
}  // namespace muster::http
