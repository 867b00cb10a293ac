#include <atomic>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "tests/unit/lib/http/test_server.hpp"

namespace muster::http {
namespace {

using namespace std::chrono_literals;

// What a test lets a stream say. THREADS: any.
struct Script {
  void say(std::string text, bool last = false) {
    const std::lock_guard guard(mutex);
    pending += text;
    end = last;
  }
  std::mutex mutex;
  std::string pending;
  bool end = false, throws = false;
  std::atomic<int> living = 0;
};

class ScriptedStream final : public Stream {
 public:
  explicit ScriptedStream(std::shared_ptr<Script> script) : script_(std::move(script)) {
    ++script_->living;
  }
  ~ScriptedStream() override { --script_->living; }
  More pull(std::string& out) override {
    const std::lock_guard guard(script_->mutex);
    if (script_->throws) throw std::runtime_error("no more words");
    out += script_->pending.substr(0, 65536);
    script_->pending.erase(0, 65536);
    return script_->end && script_->pending.empty() ? More::end : More::yes;
  }

 private:
  std::shared_ptr<Script> script_;
};

class StreamTest : public ::testing::Test {
 protected:
  void start(ServerSettings settings = {}) {
    test = std::make_unique<TestServer>(settings, [this](Router& router) {
      router.add("GET", "/stream", now([this](const Request&) {
                   return Response{200,
                                   {{"Content-Type", "text/event-stream"}},
                                   "begin ",
                                   std::make_shared<ScriptedStream>(script)};
                 }));
    });
  }
  bool becomes(int living) {
    const auto until = std::chrono::steady_clock::now() + 60s;
    while (script->living != living && std::chrono::steady_clock::now() < until)
      std::this_thread::yield();
    return script->living == living;
  }

  const std::string ask = "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n";
  std::shared_ptr<Script> script = std::make_shared<Script>();
  std::unique_ptr<TestServer> test;
};

TEST_F(StreamTest, comes_in_chunks_and_ends_with_the_connection) {
  start();
  auto client = test->connect();
  client.send(ask);
  const std::string head = client.read_until("begin ");
  EXPECT_NE(head.find("\r\nTransfer-Encoding: chunked\r\n"), std::string::npos) << head;
  EXPECT_EQ(head.find("Content-Length"), std::string::npos);
  EXPECT_NE(head.find("\r\nConnection: close\r\n\r\n6\r\nbegin \r\n"), std::string::npos) << head;
  script->say("more");
  EXPECT_TRUE(client.read_until("more\r\n").ends_with("4\r\nmore\r\n"));
  script->say("the end", true);
  EXPECT_TRUE(client.read_all().ends_with("7\r\nthe end\r\n0\r\n\r\n"));
  EXPECT_TRUE(becomes(0));
  EXPECT_TRUE(test->lines->contains("path=/stream status=200 bytes=17"));
}

TEST_F(StreamTest, an_old_client_gets_it_without_chunks) {
  start();
  script->say("all", true);
  auto client = test->connect();
  client.send("GET /stream HTTP/1.0\r\n\r\n");
  const std::string answer = client.read_all();
  EXPECT_TRUE(answer.ends_with("\r\n\r\nbegin all")) << answer;
  EXPECT_EQ(answer.find("chunked"), std::string::npos);
}

TEST_F(StreamTest, head_has_no_stream) {
  start();
  auto client = test->connect();
  client.send("HEAD /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(client.read_all().ends_with("\r\n\r\n"));
  EXPECT_TRUE(becomes(0));
}

TEST_F(StreamTest, is_destroyed_when_the_peer_goes) {
  start();
  {
    auto client = test->connect();
    client.send(ask);
    client.read_until("begin ");
    EXPECT_EQ(script->living, 1);
  }
  EXPECT_TRUE(becomes(0));
  EXPECT_TRUE(test->still_serves());
}

TEST_F(StreamTest, a_large_one_comes_whole) {
  start();
  std::string all;
  for (int i = 0; i < 300'000; ++i) all += std::to_string(i) + ",";
  script->say(all, true);
  auto client = test->connect();
  client.send("GET /stream HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(client.read_all().ends_with("\r\n\r\nbegin " + all));
}

TEST_F(StreamTest, a_peer_that_does_not_read_is_dropped) {
  ServerSettings settings;
  settings.write_timeout = 100ms;
  start(settings);
  script->say(std::string(24 << 20, 'x'));
  auto client = test->connect();
  client.send(ask);
  EXPECT_TRUE(becomes(1));
  EXPECT_TRUE(becomes(0));
  EXPECT_TRUE(test->still_serves());
}

TEST_F(StreamTest, what_the_peer_sends_meanwhile_is_thrown_away) {
  start();
  auto client = test->connect();
  client.send(ask + ask);
  client.read_until("begin ");
  client.send(std::string(100'000, 'x'));
  script->say("end", true);
  EXPECT_TRUE(client.read_all().ends_with("end\r\n0\r\n\r\n"));
}

TEST_F(StreamTest, one_that_throws_ends_its_connection_only) {
  start();
  auto client = test->connect();
  client.send(ask);
  client.read_until("begin ");
  {
    const std::lock_guard guard(script->mutex);
    script->throws = true;
  }
  EXPECT_TRUE(client.read_all().ends_with("begin \r\n"));
  EXPECT_TRUE(test->lines->contains("what=\"no more words\""));
  EXPECT_TRUE(test->still_serves());
}

TEST_F(StreamTest, draining_ends_it) {
  start();
  auto client = test->connect();
  client.send(ask);
  client.read_until("begin ");
  std::promise<void> drained;
  test->server->drain([&] { drained.set_value(); });
  EXPECT_TRUE(client.read_all().ends_with("begin \r\n0\r\n\r\n"));
  client.finish_sending();
  EXPECT_EQ(drained.get_future().wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(becomes(0));
}

TEST_F(StreamTest, many_at_once_end_when_the_server_stops) {
  start();
  std::vector<testing::RawClient> clients;
  for (int i = 0; i < 50; ++i) {
    clients.push_back(test->connect());
    clients.back().send(ask);
    clients.back().read_until("begin ");
  }
  EXPECT_EQ(script->living, 50);
  test->server->stop();
  for (auto& client : clients) client.read_all();
  EXPECT_TRUE(becomes(0));
}

}  // namespace
}  // namespace muster::http
