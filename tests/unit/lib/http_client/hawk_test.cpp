// Signed requests, and a server whose clock differs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/testing/fake_host.hpp>

#include "lib/http_client/client.hpp"
#include "tests/support/scripted_server.hpp"

namespace muster::http_client {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::ScriptedServer;

const Secret key("the-key");

// Judges signatures as a server does, by a clock of its own.
class JudgingServer {
 public:
  std::string url() const { return server_.url(); }
  std::size_t requests() const { return server_.requests().size(); }
  std::string last_request() const { return server_.requests().back(); }

  std::atomic<std::int64_t> seconds = 1'767'225'600;  // what FakeContext begins with
  std::atomic<bool> signs_its_time = true, says_a_date = false;
  std::string date = "Thu, 01 Jan 2026 03:00:00 GMT";

 private:
  static std::string header(const std::string& request, const std::string& name) {
    const auto begin = request.find("\r\n" + name + ": ");
    if (begin == std::string::npos) return {};
    const auto value = begin + name.size() + 4;
    return request.substr(value, request.find("\r\n", value) - value);
  }

  std::string judge(const std::string& request) const {
    const auto signature = hawk::parse_header(header(request, "Authorization"));
    if (!signature) return refuse("no signature");
    const auto space = request.find(' ');
    const hawk::Request described{
        request.substr(0, space),
        request.substr(space + 1, request.find(' ', space + 1) - space - 1), "127.0.0.1",
        server_.port()};
    const std::string body = request.substr(request.find("\r\n\r\n") + 4);
    const std::string hash =
        body.empty() ? "" : hawk::payload_hash(header(request, "Content-Type"), body);
    if (signature->hash != hash) return refuse("wrong hash");
    if (signature->mac != hawk::mac_of(key, hawk::normalized("header", *signature, described)))
      return refuse("wrong signature");
    if (std::abs(std::stoll(signature->ts) - seconds) > 60) return refuse("stale");
    return ScriptedServer::ok("welcome " + signature->id);
  }

  std::string refuse(const std::string& why) const {
    std::string headers;
    if (signs_its_time)
      headers += "WWW-Authenticate: " + hawk::time_challenge(seconds, key) + "\r\n";
    if (says_a_date) headers += "Date: " + date + "\r\n";
    return ScriptedServer::with_status("401 Unauthorized", why, headers);
  }

  ScriptedServer server_{[this](const std::string& request) { return judge(request); }};
};

struct Signed : ::testing::Test {
  Answer send(Client& with, HawkSignature signature, std::optional<std::string> body = {}) {
    return with.send({.url = server.url() + "/a%2Fb?c=d",
                      .method = body ? "POST" : "GET",
                      .headers = {{"Content-Type", "application/json; charset=utf-8"}},
                      .body = std::move(body),
                      .authorization = std::move(signature)},
                     context);
  }
  HawkSignature me(bool trust_date = false) const { return {{"me", key, ""}, trust_date}; }

  JudgingServer server;
  testing::FakeContext context;
  Client client{{}};
};

TEST_F(Signed, a_wrong_key_is_refused_and_tried_once) {
  server.seconds += 3600;
  const Answer answer = send(client, {{"me", Secret("another"), ""}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 401);
  EXPECT_EQ(server.requests(), 1u) << "a time that is not signed with our key proves nothing";
  EXPECT_EQ(client.server_clock().offset(), 0ms);
}

TEST_F(Signed, a_refusal_for_another_reason_is_not_repeated) {
  EXPECT_EQ(send(client, {{"me", Secret("another"), ""}, true})->status, 401);
  server.says_a_date = true;
  server.date = "Thu, 01 Jan 2026 00:00:10 GMT";
  EXPECT_EQ(send(client, {{"me", Secret("another"), ""}, true})->status, 401);
  EXPECT_EQ(server.requests(), 2u);
}

TEST_F(Signed, a_server_that_refuses_every_time_is_asked_twice) {
  server.signs_its_time = false;
  server.says_a_date = true;
  server.seconds += 7200;  // not what its Date says
  server.date = "Sat, 03 Jan 2026 03:00:00 GMT";
  EXPECT_EQ(send(client, me(true))->status, 401);
  EXPECT_EQ(server.requests(), 2u);
}

TEST_F(Signed, a_date_that_nobody_signed_is_believed_only_if_told_so) {
  server.signs_its_time = false;
  server.says_a_date = true;
  server.seconds += 3 * 3600;
  EXPECT_EQ(send(client, me())->status, 401);
  EXPECT_EQ(server.requests(), 1u);
  EXPECT_EQ(send(client, me(true))->status, 200);
  EXPECT_EQ(client.server_clock().offset(), 3h);
}

TEST_F(Signed, a_clock_that_differs_is_repaired_once_and_remembered) {
  server.seconds -= 86'400;
  EXPECT_EQ(send(client, me(), "{}")->body, "welcome me");
  EXPECT_EQ(server.requests(), 2u);
  EXPECT_EQ(send(client, me())->body, "welcome me");
  EXPECT_EQ(server.requests(), 3u);
}

TEST_F(Signed, clients_of_one_server_share_what_they_know_of_its_clock) {
  server.seconds += 86'400;
  const auto clock = std::make_shared<hawk::ServerClock>();
  Client first({.server_clock = clock}), second({.server_clock = clock});
  EXPECT_EQ(send(first, me())->status, 200);
  EXPECT_EQ(send(second, me())->status, 200);
  EXPECT_EQ(server.requests(), 3u);
}

TEST_F(Signed, all_of_many_requests_are_repaired) {
  server.seconds += 86'400;
  int left = 20, good = 0;
  client.send_all(
      [&](Request& request) {
        request = {.url = server.url() + "/x", .authorization = me()};
        return left-- > 0;
      },
      [&](std::size_t, const Answer& answer) { good += answer && answer->status == 200; }, context);
  EXPECT_EQ(good, 20);
}

TEST_F(Signed, a_certificate_is_sent_with_the_signature) {
  EXPECT_EQ(send(client, {{"me", key, R"({"version":1})"}}, "{}")->status, 200);
  EXPECT_THAT(server.last_request(),
              HasSubstr("ext=\"" + hawk::base64(R"({"certificate":{"version":1}})") + "\""));
}

}  // namespace
}  // namespace muster::http_client
