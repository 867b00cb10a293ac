// Good servers: answers, kept connections, many requests at once, streams.
#include "lib/http_client/client.hpp"

#include <set>
#include <unistd.h>

#include <gtest/gtest.h>

#include "lib/base/file_descriptor.hpp"
#include "lib/http/answer.hpp"
#include "lib/http/server.hpp"
#include "tests/support/scripted_server.hpp"

namespace muster::http_client {
namespace {

using namespace std::chrono_literals;
using testing::ScriptedServer;

class Words final : public http::Stream {
 public:
  More pull(std::string& out) override {
    out += "word " + std::to_string(said_) + "\n";
    return ++said_ < 3 ? More::yes : More::end;
  }

 private:
  int said_ = 0;
};

class Silence final : public http::Stream {
 public:
  More pull(std::string&) override { return More::yes; }
};

class GoodServer : public ::testing::Test {
 protected:
  GoodServer() {
    router.add("GET", "/peer/{number}", http::now([this](const http::Request& request) {
                 const std::lock_guard guard(mutex);
                 peers.insert(request.peer);
                 return http::Response{200, {}, std::string(request.path_parameter("number"))};
               }));
    router.add("GET", "/stream/{kind}", [](http::Request&& request, const http::Reply& reply) {
      http::Response response{200, {}, "first\n"};
      if (request.path_parameter("kind") == "words")
        response.stream = std::make_shared<Words>();
      else
        response.stream = std::make_shared<Silence>();
      reply(std::move(response));
    });
    http::ServerSettings settings;
    settings.access_log = false;
    auto made = http::Server::listen(settings, router, clock, Log());
    if (!made) throw std::runtime_error(made.error().message);
    server = std::move(*made);
    server->start();
    url = "http://127.0.0.1:" + std::to_string(server->port());
  }

  SystemClock clock;
  std::mutex mutex;
  std::set<std::string> peers;  // one for each connection
  http::Router router{Log()};
  std::unique_ptr<http::Server> server;
  std::string url;
};

TEST(Answers, every_status_is_an_answer_with_its_headers) {
  const ScriptedServer server([](const std::string&) {
    return "HTTP/1.1 100 Continue\r\nX-Early: 1\r\n\r\n" +
           ScriptedServer::with_status("503 Busy", "later",
                                       "Retry-After: 7\r\nX-Two:  a b \r\nx-two: c\r\n");
  });
  const Answer answer = Client({}).send({.url = server.url()});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
  EXPECT_FALSE(answer->is_success());
  EXPECT_EQ(answer->body, "later");
  EXPECT_EQ(answer->retry_after, 7s);
  EXPECT_EQ(answer->header("X-TWO"), "a b");
  EXPECT_EQ(answer->header("X-Early"), "");
  EXPECT_EQ(answer->header("missing"), "");
}

TEST(Answers, a_retry_after_is_at_most_an_hour_and_bodies_keep_their_bytes) {
  const std::string bytes("\0\xff\xfe\r\n", 5);
  const ScriptedServer server(
      [&](const std::string&) { return ScriptedServer::ok(bytes, "Retry-After: 99999999\r\n"); });
  const Answer answer = Client({}).send({.url = server.url()});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, bytes);
  EXPECT_EQ(answer->retry_after, 1h);
}

TEST_F(GoodServer, a_server_without_tls_is_told_apart_from_one_that_is_not_there) {
  const Answer answer =
      Client({}).send({.url = "https://127.0.0.1:" + std::to_string(server->port()) + "/peer/1"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, Failure::Kind::no_tls);
}

TEST_F(GoodServer, one_connection_serves_one_request_after_the_other) {
  Client client({});
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(client.send({.url = url + "/peer/" + std::to_string(i)})->body, std::to_string(i));
  EXPECT_EQ(peers.size(), 1u);
}

TEST_F(GoodServer, a_request_without_a_kept_connection_gets_one_of_its_own) {
  Client client({});
  for (const bool kept : {true, true, false, false})
    EXPECT_EQ(client.send({.url = url + "/peer/1", .kept_connection = kept})->status, 200);
  EXPECT_EQ(peers.size(), 3u);
}

TEST_F(GoodServer, many_requests_share_few_connections) {
  Client client({.max_concurrent = 4});
  std::size_t given = 0;
  std::vector<std::string> answers(500);
  client.send_all(
      [&](Request& request) {
        if (given == answers.size()) return false;
        request.url = url + "/peer/" + std::to_string(given++);
        return true;
      },
      [&](std::size_t number, Answer answer) { answers.at(number) = answer.value().body; });
  for (std::size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers[i], std::to_string(i));
  EXPECT_LE(peers.size(), 4u);
}

TEST_F(GoodServer, a_request_that_cannot_be_sent_does_not_stop_the_others) {
  std::vector<std::string> urls{url + "/peer/0", "nonsense", "http://127.0.0.1:1/",
                                url + "/peer/3"};
  std::size_t given = 0;
  std::vector<bool> answered(urls.size());
  Client({}).send_all(
      [&](Request& request) {
        if (given == urls.size()) return false;
        request.url = urls[given++];
        return true;
      },
      [&](std::size_t number, const Answer& answer) { answered[number] = answer.has_value(); });
  EXPECT_EQ(answered, (std::vector<bool>{true, false, false, true}));
}

TEST_F(GoodServer, a_callback_that_throws_leaves_a_client_that_works) {
  Client client({.max_concurrent = 4});
  EXPECT_THROW(client.send_all(
                   [&](Request& request) {
                     request.url = url + "/peer/1";
                     return true;
                   },
                   [](std::size_t, const Answer&) { throw std::runtime_error("enough"); }),
               std::runtime_error);
  EXPECT_EQ(client.send({.url = url + "/peer/2"})->body, "2");
}

TEST_F(GoodServer, a_stream_is_handed_over_as_it_comes) {
  std::string heard;
  Client client({.max_body_bytes = 3});  // a limit for documents, not for streams
  const Answer answer = client.send(
      {.url = url + "/stream/words", .on_body = [&](std::string_view part) { heard += part; }});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(heard, "first\nword 0\nword 1\nword 2\n");
  EXPECT_EQ(answer->body, "");
}

TEST_F(GoodServer, a_stream_ends_when_a_descriptor_becomes_readable) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const FileDescriptor stop(ends[0]), say(ends[1]);
  const Answer answer = Client({}).send(
      {.url = url + "/stream/silence",
       .on_body = [&](std::string_view) { EXPECT_EQ(::write(say.get(), "x", 1), 1); }},
      Cancellation::when_readable(stop.get()));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, Failure::Kind::cancelled);
}

TEST_F(GoodServer, what_the_listener_of_a_stream_throws_comes_out) {
  Client client({});
  EXPECT_THROW(
      (void)client.send({.url = url + "/stream/words",
                         .on_body = [](std::string_view) { throw std::runtime_error("enough"); }}),
      std::runtime_error);
  EXPECT_EQ(client.send({.url = url + "/peer/1"})->body, "1");
}

TEST_F(GoodServer, the_refusal_of_a_stream_is_a_document) {
  bool called = false;
  const Answer answer = Client({}).send(
      {.url = url + "/nothing", .on_body = [&](std::string_view) { called = true; }});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 404);
  EXPECT_NE(answer->body, "");
  EXPECT_FALSE(called);
}

TEST_F(GoodServer, a_proxy_of_the_environment_is_used_unless_there_is_to_be_none) {
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);
  const bool through_proxy = Client({}).send({.url = url + "/peer/1"}).has_value();
  const bool direct = Client({.proxy = ""}).send({.url = url + "/peer/1"}).has_value();
  ::unsetenv("http_proxy");
  EXPECT_FALSE(through_proxy);
  EXPECT_TRUE(direct);
  EXPECT_FALSE(Client({.proxy = "http://127.0.0.1:1"}).send({.url = url + "/peer/1"}));
}

}  // namespace
}  // namespace muster::http_client
