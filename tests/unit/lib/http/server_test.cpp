#include "lib/http/server.hpp"

#include <gtest/gtest.h>

#include "tests/unit/lib/http/test_server.hpp"

namespace muster::http {
namespace {

using namespace std::chrono_literals;

const std::string get_hello = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";

TEST(ServerTest, says_who_has_the_port) {
  TestServer first;
  ServerSettings settings;
  settings.port = first.server->port();
  const auto second = Server::listen(settings, first.router, first.clock, Log());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Server::address_in_use);
  EXPECT_NE(second.error().message.find("pid " + std::to_string(::getpid()) + " (unit_lib_http)"),
            std::string::npos)
      << second.error().message;
}

TEST(ServerTest, refuses_an_address_that_is_not_this_machines) {
  TestServer any;
  ServerSettings settings;
  settings.address = "203.0.113.1";
  EXPECT_FALSE(Server::listen(settings, any.router, any.clock, Log()));
  settings.address = "nonsense";
  EXPECT_FALSE(Server::listen(settings, any.router, any.clock, Log()));
}

TEST(ServerTest, answers_with_date_id_and_length_and_keeps_the_connection) {
  TestServer test;
  auto client = test.connect();
  for (int i = 0; i < 3; ++i) {
    client.forget();
    client.send(get_hello);
    const std::string answer = client.read_until("hello");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\nDate: ")) << answer;
    EXPECT_NE(answer.find(" GMT\r\nx-for-request-id: "), std::string::npos) << answer;
    EXPECT_NE(answer.find("\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello"),
              std::string::npos)
        << answer;
  }
}

TEST(ServerTest, pipelined_requests_are_answered_in_order) {
  TestServer test;
  auto client = test.connect();
  std::string requests;
  for (int i = 0; i < 100; ++i)
    requests +=
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n" + std::to_string(1000 + i);
  requests += "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  client.send(requests);
  const std::string answers = client.read_all();
  std::size_t at = 0;
  for (int i = 0; i < 100; ++i) {
    at = answers.find("\r\n\r\n" + std::to_string(1000 + i), at);
    ASSERT_NE(at, std::string::npos) << i;
  }
  EXPECT_TRUE(answers.ends_with("hello"));
}

TEST(ServerTest, head_and_204_have_no_body) {
  TestServer test;
  auto client = test.connect();
  client.send(
      "HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\nGET /empty HTTP/1.1\r\nHost: a\r\n"
      "Connection: close\r\n\r\n");
  const std::string answers = client.read_all();
  EXPECT_NE(answers.find("Content-Length: 5\r\n"), std::string::npos);
  EXPECT_EQ(answers.find("hello"), std::string::npos);
  EXPECT_NE(answers.find("HTTP/1.1 204 No Content"), std::string::npos);
}

TEST(ServerTest, http_1_0_is_closed_after_its_answer) {
  TestServer test;
  auto client = test.connect();
  client.send("GET /hello HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(client.read_all().ends_with("Connection: close\r\n\r\nhello"));
}

TEST(ServerTest, a_client_that_expects_100_gets_it) {
  TestServer test;
  auto client = test.connect();
  client.send(
      "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("abc");
  EXPECT_TRUE(client.read_until("abc").ends_with("abc"));
}

TEST(ServerTest, a_large_body_comes_back_whole) {
  TestServer test;
  auto client = test.connect();
  const std::string body(3'000'000, 'b');
  client.send(
      "POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3000000\r\n\r\n");
  client.send(body);
  EXPECT_TRUE(client.read_all().ends_with("\r\n\r\n" + body));
}

TEST(ServerTest, writes_an_access_log_without_the_query) {
  TestServer test;
  auto client = test.connect();
  client.send("GET /hello?bewit=s3cret HTTP/1.1\r\nHost: a\r\n\r\n");
  client.read_until("hello");
  EXPECT_TRUE(test.lines->contains("method=GET path=/hello status=200 bytes=5"));
  EXPECT_FALSE(test.lines->contains("s3cret"));
}

TEST(ServerTest, draining_closes_idle_connections_and_lets_running_requests_end) {
  TestServer test;
  auto idle = test.connect();
  idle.send(get_hello);
  idle.read_until("hello");
  auto busy = test.connect();
  busy.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
  const Reply reply = test.waiting.get_future().get();
  std::promise<void> drained;
  test.server->drain([&] { drained.set_value(); });
  idle.read_all();  // the end of its stream
  auto is_drained = drained.get_future();
  EXPECT_EQ(is_drained.wait_for(0ms), std::future_status::timeout);
  EXPECT_THROW(test.connect(), std::runtime_error);
  reply(Response{200, {}, "late"});
  EXPECT_TRUE(busy.read_all().ends_with("Connection: close\r\n\r\nlate"));
  EXPECT_EQ(is_drained.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(test.server->connections(), 0u);
}

TEST(ServerTest, draining_an_idle_server_is_done_at_once) {
  TestServer test;
  std::promise<void> drained;
  test.server->drain([&] { drained.set_value(); });
  EXPECT_EQ(drained.get_future().wait_for(10s), std::future_status::ready);
}

TEST(ServerTest, stopping_closes_everything_and_a_late_answer_goes_nowhere) {
  auto test = std::make_unique<TestServer>();
  auto client = test->connect();
  client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
  auto reply = std::make_unique<Reply>(test->waiting.get_future().get());
  test->server->stop();
  EXPECT_EQ(client.read_all(), "");
  test->server.reset();
  (*reply)(Response{200, {}, "late"});
  reply.reset();
}

TEST(ServerTest, proves_that_its_threads_live) {
  TestServer test;
  std::promise<void> alive;
  test.server->prove_alive([&] { alive.set_value(); });
  EXPECT_EQ(alive.get_future().wait_for(10s), std::future_status::ready);
}

}  // namespace
}  // namespace muster::http
