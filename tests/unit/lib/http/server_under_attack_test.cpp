// Clients that mean no good, or are merely broken. After each of them the server serves the next
// one as if nothing had happened.
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "tests/unit/lib/http/test_server.hpp"

namespace muster::http {
namespace {

using namespace std::chrono_literals;

ServerSettings impatient() {
  ServerSettings settings;
  settings.header_timeout = settings.body_timeout = settings.idle_timeout = 50ms;
  settings.write_timeout = 200ms;
  settings.limits = {1024, 4096};
  return settings;
}

std::string status_line(const std::string& answer) {
  return answer.substr(0, answer.find("\r\n"));
}

TEST(ServerUnderAttack, a_slow_head_is_answered_408) {
  TestServer test(impatient());
  auto client = test.connect();
  client.send("GET /hello HT");
  EXPECT_EQ(status_line(client.read_all()), "HTTP/1.1 408 Request Timeout");
  EXPECT_TRUE(test.still_serves());
}

TEST(ServerUnderAttack, a_head_that_trickles_does_not_gain_time) {
  TestServer test(impatient());
  auto client = test.connect();
  client.send("GET /hello HTTP/1.1\r\nHost: a\r\n");
  // One byte whenever the server is still there; each send is as fast as the loop allows.
  std::thread trickle([&] {
    while (client.send("X")) std::this_thread::yield();
  });
  EXPECT_TRUE(test.still_serves());
  trickle.join();  // ends only because the server closes
}

TEST(ServerUnderAttack, empty_lines_before_a_request_gain_no_time) {
  ServerSettings settings = impatient();
  settings.idle_timeout = 10min;
  TestServer test(settings);
  auto client = test.connect();
  client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  client.read_until("hello");
  const auto until = std::chrono::steady_clock::now() + 30s;
  bool open = true;
  while (open && std::chrono::steady_clock::now() < until) {
    open = client.send("\r\n");
    std::this_thread::yield();
  }
  EXPECT_FALSE(open);
  EXPECT_TRUE(test.still_serves());
}

TEST(ServerUnderAttack, hundreds_of_slow_heads_hold_up_nobody) {
  ServerSettings settings = impatient();
  settings.header_timeout = 500ms;
  TestServer test(settings);
  std::vector<testing::RawClient> slow;
  for (int i = 0; i < 200; ++i) {
    slow.push_back(test.connect());
    slow.back().send("GET /hello HTTP/1.1\r\nHost: a\r\nX-" + std::to_string(i));
  }
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(test.still_serves());
  for (auto& client : slow)
    EXPECT_EQ(status_line(client.read_all()), "HTTP/1.1 408 Request Timeout");
  EXPECT_TRUE(test.still_serves());
}

TEST(ServerUnderAttack, a_head_and_a_chunked_body_without_end_are_cut_off) {
  TestServer test(impatient());
  auto head = test.connect();
  head.send("GET /hello HTTP/1.1\r\nHost: a\r\n");
  for (int i = 0; i < 10'000 && head.send("X-More: 1\r\n"); ++i) {
  }
  EXPECT_EQ(status_line(head.read_all()), "HTTP/1.1 431 Request Header Fields Too Large");
  auto body = test.connect();
  body.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 10'000 && body.send("8\r\n01234567\r\n"); ++i) {
  }
  EXPECT_EQ(status_line(body.read_all()), "HTTP/1.1 413 Content Too Large");
  EXPECT_TRUE(test.still_serves());
}

TEST(ServerUnderAttack, a_pipeline_whose_answers_nobody_reads_comes_to_a_halt) {
  ServerSettings settings;
  settings.write_timeout = 200ms;
  TestServer test(settings);
  auto client = test.connect();
  const std::string body(100'000, 'b');
  const std::string request =
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" + body;
  int sent = 0;  // the server stops reading and then closes; the sockets' buffers take some
  while (sent < 1000 && client.send(request)) ++sent;
  EXPECT_LT(sent, 1000);
  EXPECT_TRUE(test.still_serves());
}

TEST(ServerUnderAttack, a_pipeline_of_good_and_bad_requests_is_answered_up_to_the_first_bad_one) {
  TestServer test;
  auto client = test.connect();
  const std::string good = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";
  client.send(good + "GET /none HTTP/1.1\r\nHost: a\r\n\r\n" + good + "GET nonsense\r\n\r\n" +
              good);
  const std::string answers = client.read_all();
  std::vector<std::string> statuses;
  for (std::size_t at = 0; (at = answers.find("HTTP/1.1 ", at)) != std::string::npos; at += 9)
    statuses.push_back(answers.substr(at + 9, 3));
  EXPECT_EQ(statuses, (std::vector<std::string>{"200", "404", "200", "400"}));
  EXPECT_TRUE(test.still_serves());
}

TEST(ServerUnderAttack, a_slow_body_is_answered_408) {
  TestServer test(impatient());
  auto client = test.connect();
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(status_line(client.read_all()), "HTTP/1.1 408 Request Timeout");
}

TEST(ServerUnderAttack, a_silent_connection_is_closed_without_a_word) {
  TestServer test(impatient());
  auto client = test.connect();
  EXPECT_EQ(client.read_all(), "");
  auto second = test.connect();
  second.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(second.read_all().ends_with("hello"));
}

TEST(ServerUnderAttack, a_client_that_does_not_read_is_closed) {
  ServerSettings settings;
  settings.write_timeout = 100ms;
  settings.limits.max_body_bytes = 64 << 20;
  TestServer test(settings);
  auto client = test.connect();
  const std::string body(32 << 20, 'b');
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\n\r\n");
  client.send(body);
  // The answer is larger than the socket's buffers, so it cannot be taken without reading.
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (test.server->connections() > 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::yield();
  EXPECT_EQ(test.server->connections(), 0u);
  EXPECT_TRUE(test.still_serves());
}

TEST(ServerUnderAttack, oversized_heads_and_bodies_get_their_answer_before_the_end) {
  TestServer test(impatient());
  auto head = test.connect();
  head.send("GET /hello HTTP/1.1\r\nHost: a\r\nX: " + std::string(10'000, 'x') + "\r\n\r\n");
  EXPECT_EQ(status_line(head.read_all()), "HTTP/1.1 431 Request Header Fields Too Large");
  auto body = test.connect();
  body.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" +
            std::string(1'000'000, 'b'));
  EXPECT_EQ(status_line(body.read_all()), "HTTP/1.1 413 Content Too Large");
  EXPECT_TRUE(test.still_serves());
}

TEST(ServerUnderAttack, truncated_requests_are_forgotten) {
  TestServer test;
  auto client = test.connect();
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
  client.finish_sending();
  EXPECT_EQ(client.read_all(), "");
  EXPECT_TRUE(test.still_serves());
}

TEST(ServerUnderAttack, garbage_behind_a_good_request_is_answered_400_after_the_good_answer) {
  TestServer test;
  auto client = test.connect();
  client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n\x16\x03\x01 garbage\r\n\r\n");
  const std::string answers = client.read_all();
  EXPECT_NE(answers.find("\r\n\r\nhello"), std::string::npos);
  EXPECT_NE(answers.find("HTTP/1.1 400 Bad Request"), std::string::npos);
  EXPECT_NE(answers.find("Connection: close"), std::string::npos);
  EXPECT_TRUE(test.still_serves());
}

TEST(ServerUnderAttack, more_connections_than_allowed_get_a_503) {
  ServerSettings settings;
  settings.max_connections = 2;
  TestServer test(settings);
  auto first = test.connect();
  first.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  first.read_until("hello");
  auto second = test.connect();
  second.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  second.read_until("hello");
  auto third = test.connect();
  EXPECT_TRUE(third.read_all().starts_with("HTTP/1.1 503 "));
  first.forget();
  first.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(first.read_until("hello").ends_with("hello"));
}

TEST(ServerUnderAttack, random_bytes_from_many_clients_at_once_disturb_nobody) {
  TestServer test(impatient());
  std::vector<std::thread> attackers;
  for (unsigned seed = 0; seed < 4; ++seed)
    attackers.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int i = 0; i < 50; ++i) {
        auto client = test.connect();
        std::string bytes = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";
        for (int flips = 0; flips < 10; ++flips)
          bytes[random() % bytes.size()] = static_cast<char>(random());
        client.send(bytes);
        if (random() % 2) client.finish_sending();
        if (random() % 2) client.read_all();
      }
    });
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(test.still_serves());
  for (std::thread& attacker : attackers) attacker.join();
  EXPECT_TRUE(test.still_serves());
}

}  // namespace
}  // namespace muster::http
