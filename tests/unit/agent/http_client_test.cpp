#include "agent/http_client.hpp"

#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/http_parser.hpp"
#include "tests/support/certificate.hpp"
#include "tests/support/python_service.hpp"
#include "tests/support/scripted_server.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::agent {
namespace {

using namespace std::chrono_literals;
using muster::testing::PythonService;
using muster::testing::ScriptedServer;
using ::testing::HasSubstr;

const std::string nasty_script = MUSTER_SOURCE "/tests/support/nasty_service.py";

// Runs the loop until the answer is there.
Result<HttpAnswer> fetch(HttpRequest request, const std::string& ca_file = "") {
  EventLoop loop;
  HttpClient client(loop, ca_file);
  std::optional<Result<HttpAnswer>> result;
  client.send(std::move(request), [&](Result<HttpAnswer> answer) {
    result = std::move(answer);
    loop.stop();
  });
  loop.run();
  return *result;
}

std::string failure(HttpRequest request, const std::string& ca_file = "") {
  const auto answer = fetch(std::move(request), ca_file);
  return answer ? "HTTP " + std::to_string(answer->status) : answer.error().message;
}

TEST(ServerUrl, what_is_no_address_is_named_unless_it_holds_a_password) {
  EXPECT_EQ(parse_server_url("a.example").error().message,
            "\"a.example\" is not the address of a server: it must begin with http:// or https://");
  EXPECT_EQ(parse_server_url("http://me:hunter2@a.example").error().message,
            "the address of a server may not have a user name or a password in it");
}

TEST(HttpParser, refuses_what_is_no_http_however_it_is_cut) {
  for (const std::string text :
       {"HELLO\r\n\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 999 X\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: x\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 12x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n"})
    for (const std::size_t at_once : {std::size_t{1}, text.size()}) {
      HttpParser parser(100);
      Result<bool> result = false;
      for (std::size_t i = 0; i < text.size() && result; i += at_once)
        result = parser.feed(std::string_view(text).substr(i, at_once));
      EXPECT_FALSE(result && (*result || parser.end())) << text;
    }
}

TEST(HttpParser, lines_that_never_end_fill_no_memory) {
  for (const std::string start :
       {"HTTP/1.1 200 ",
        "HTTP/1.1 200 OK\r\nX: ", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nTrailer: "}) {
    HttpParser parser(100);
    Result<bool> result = parser.feed(start);
    for (int i = 0; i < 100 && result; ++i) result = parser.feed(std::string(1024, 'a'));
    EXPECT_FALSE(result) << start;
  }
}

TEST(HttpParser, takes_answers_however_they_are_cut) {
  const std::string chunked =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nDATE:  x "
      "\r\n\r\n"
      "3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: t\r\n\r\n";
  for (std::size_t at_once = 1; at_once <= chunked.size(); ++at_once) {
    HttpParser parser(5);
    Result<bool> result = false;
    for (std::size_t i = 0; i < chunked.size(); i += at_once)
      result = parser.feed(std::string_view(chunked).substr(i, at_once));
    ASSERT_TRUE(result && *result);
    const HttpAnswer answer = parser.take();
    EXPECT_EQ(answer.body, "abcde");
    EXPECT_EQ(*answer.header("date"), "x");
  }
}

TEST(HttpParser, an_answer_without_a_length_ends_with_the_stream) {
  HttpParser parser(100);
  EXPECT_FALSE(*parser.feed("HTTP/1.0 200 OK\r\n\r\nabc"));
  EXPECT_TRUE(parser.end());
  EXPECT_EQ(parser.take().body, "abc");
}

TEST(HttpClient, says_what_went_wrong_with_each_kind_of_bad_server) {
  const PythonService nasty(nasty_script);
  const auto ask = [&](const std::string& behaviour) {
    return failure({.method = "POST",
                    .url = nasty.url() + "/" + behaviour + "/x",
                    .body = "{}",
                    .timeout = 20s});
  };
  EXPECT_THAT(ask("garbage"), HasSubstr("not HTTP"));
  EXPECT_THAT(ask("cut"), HasSubstr("cut off"));
  EXPECT_THAT(ask("close"), HasSubstr("without an answer"));
  EXPECT_THAT(ask("huge"), HasSubstr("larger than it may be"));
  EXPECT_THAT(ask("unbounded"), HasSubstr("larger than it may be"));
  EXPECT_THAT(ask("headers"), HasSubstr("head is larger"));
  EXPECT_EQ(ask("redirect"), "HTTP 302");  // and nobody follows it
}

TEST(HttpClient, waits_for_slow_servers_no_longer_than_it_was_told) {
  const PythonService nasty(nasty_script);
  for (const char* behaviour : {"/silent/x", "/drip/x"})
    EXPECT_THAT(failure({.url = nasty.url() + behaviour, .timeout = 100ms}),
                HasSubstr("no answer within"));
}

TEST(HttpClient, says_who_cannot_be_reached) {
  std::uint16_t port = 0;
  {
    const ScriptedServer gone([](const std::string&) { return ""; });
    port = gone.port();
  }
  const std::string url = "http://127.0.0.1:" + std::to_string(port);
  EXPECT_THAT(failure({.url = url}), HasSubstr("127.0.0.1:" + std::to_string(port)));
  EXPECT_THAT(failure({.url = "http://no-such-host.invalid/", .timeout = 20s}),
              HasSubstr("no-such-host.invalid"));
  EXPECT_THAT(failure({.url = "nonsense"}), HasSubstr("nonsense"));
}

TEST(HttpClient, sends_what_it_was_given_and_no_line_ends_in_headers) {
  const ScriptedServer server([](const std::string&) { return ScriptedServer::ok("fine"); });
  const auto answer = fetch({.method = "PUT",
                             .url = server.url() + "/a%2Fb?c=d",
                             .headers = {{"X-One", "1"}},
                             .body = "body"});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "fine");
  const std::string request = server.requests().at(0);
  EXPECT_THAT(request, HasSubstr("PUT /a%2Fb?c=d HTTP/1.1\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nX-One: 1\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\n\r\nbody"));
  EXPECT_THAT(failure({.url = server.url(), .headers = {{"X", "a\r\nY: b"}}}),
              HasSubstr("line end"));
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(HttpClient, whoever_cancels_is_not_called) {
  const ScriptedServer server([](const std::string&) { return ScriptedServer::hold; });
  EventLoop loop;
  HttpClient client(loop, "");
  bool called = false;
  const auto number = client.send({.url = server.url()}, [&](const auto&) { called = true; });
  loop.after(10ms, [&] {
    client.cancel(number);
    client.cancel(number);
    loop.after(10ms, [&] { loop.stop(); });
  });
  loop.run();
  EXPECT_FALSE(called);
}

TEST(HttpClient, an_answer_may_lead_to_the_next_request) {
  const ScriptedServer server([](const std::string&) { return ScriptedServer::ok("x"); });
  EventLoop loop;
  HttpClient client(loop, "");
  int answers = 0;
  std::function<void(Result<HttpAnswer>)> again = [&](const Result<HttpAnswer>& answer) {
    ASSERT_TRUE(answer);
    if (++answers == 5) return loop.stop();
    client.send({.url = server.url()}, again);
  };
  client.send({.url = server.url()}, again);
  loop.run();
  EXPECT_EQ(answers, 5);
}

class HttpsClient : public ::testing::Test {
 protected:
  void SetUp() override { ::signal(SIGPIPE, SIG_IGN); }
  muster::testing::TemporaryFolder folder;
  std::string certificate = (folder / "certificate.pem").string();
  std::string key = (folder / "key.pem").string();
};

TEST_F(HttpsClient, trusts_only_whom_it_was_told_to_trust) {
  muster::testing::write_certificate(certificate, key, "IP:127.0.0.1");
  const PythonService service(nasty_script, {certificate, key});
  const std::string url = service.url() + "/say/fine/x";
  EXPECT_THAT(failure({.url = url}), HasSubstr("not trusted"));
  EXPECT_THAT(failure({.url = url}, key), HasSubstr("caFile"));
  const auto answer = fetch({.url = url}, certificate);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "fine");
}

TEST_F(HttpsClient, refuses_the_certificate_of_another_name) {
  muster::testing::write_certificate(certificate, key, "DNS:elsewhere.example");
  const PythonService service(nasty_script, {certificate, key});
  EXPECT_THAT(failure({.url = service.url() + "/say/fine/x"}, certificate),
              HasSubstr("not trusted"));
}

TEST_F(HttpsClient, meets_bad_servers_as_without_tls) {
  muster::testing::write_certificate(certificate, key, "IP:127.0.0.1");
  const PythonService nasty(nasty_script, {certificate, key});
  const auto ask = [&](const std::string& behaviour, std::chrono::milliseconds timeout) {
    return failure({.url = nasty.url() + "/" + behaviour + "/x", .timeout = timeout}, certificate);
  };
  EXPECT_THAT(ask("huge", 20s), HasSubstr("larger than it may be"));
  EXPECT_THAT(ask("silent", 300ms), HasSubstr("no answer within"));
  EXPECT_THAT(ask("close", 20s), HasSubstr("no answer from"));
}

TEST_F(HttpsClient, gives_up_on_a_server_that_speaks_no_tls) {
  const ScriptedServer plain([](const std::string&) { return "HTTP/1.1 400 Bad\r\n\r\n"; });
  EXPECT_THAT(
      failure({.url = "https://127.0.0.1:" + std::to_string(plain.port()), .timeout = 300ms}),
      HasSubstr("no answer"));
}

}  // namespace
}  // namespace muster::agent
