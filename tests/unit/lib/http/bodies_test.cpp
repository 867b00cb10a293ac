// What a body may cost, and when it is read at all.
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "tests/unit/lib/http/test_server.hpp"

namespace muster::http {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kib = 1024;

std::string status_of(const std::string& answer) {
  return answer.substr(0, 12);
}

std::string post(const char* path, std::size_t length, const std::string& headers = "") {
  return std::string("POST ") + path + " HTTP/1.1\r\nHost: a\r\n" + headers +
         "Content-Length: " + std::to_string(length) + "\r\n\r\n";
}

template <class Condition>
bool comes_true(Condition condition) {
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

// Callers with the header `Authorization: yes` are known.
struct Guarded {
  std::atomic<int> asked = 0;
  TestServer test;

  explicit Guarded(ServerSettings settings = {})
      : test(
            settings,
            [](Router& router) {
              router.add(
                  "POST", "/open", now([](const Request& request) {
                    return Response{200, {}, "<" + std::to_string(request.body.size()) + ">"};
                  }),
                  Access::open);
              RouteRules small;
              small.max_body_bytes = 5;
              router.add("POST", "/small", now([](const Request&) { return Response{}; }), small);
            },
            [this](Request& request) -> std::optional<Response> {
              ++asked;
              if (request.header("Authorization") != "yes")
                return error_answer(request, 401, "AuthenticationFailed", "who are you");
              request.client_id = "known";
              return std::nullopt;
            }) {}
};

TEST(BodiesTest, who_asks_is_checked_before_the_body_comes) {
  Guarded guarded;
  for (const std::size_t length : {std::size_t(5), 9000 * kib}) {
    auto client = guarded.test.connect();
    client.send(post("/echo", length));
    EXPECT_EQ(status_of(client.read_until("who are you")), "HTTP/1.1 401");
  }
  auto chunked = guarded.test.connect();
  chunked.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(status_of(chunked.read_all()), "HTTP/1.1 401");
  auto unknown = guarded.test.connect();
  unknown.send(post("/api/nothing", 9000 * kib));
  EXPECT_EQ(status_of(unknown.read_all()), "HTTP/1.1 401");
  EXPECT_EQ(guarded.asked, 4);
  EXPECT_EQ(guarded.test.server->buffered_body_bytes(), 0u);
}

TEST(BodiesTest, a_client_that_waits_is_not_asked_to_send_what_is_refused) {
  Guarded guarded;
  auto client = guarded.test.connect();
  client.send(post("/echo", 5, "Expect: 100-continue\r\n"));
  const std::string answer = client.read_all();
  EXPECT_EQ(status_of(answer), "HTTP/1.1 401");
  EXPECT_EQ(answer.find("100 Continue"), std::string::npos);
}

TEST(BodiesTest, a_connection_outlives_a_short_body_that_was_refused) {
  Guarded guarded;
  auto client = guarded.test.connect();
  client.send(post("/echo", 5));
  client.read_until("who are you");
  client.forget();
  client.send("GET /");  // the body, whatever it looks like
  client.send(post("/echo", 3, "Authorization: yes\r\n") + "xyz");
  EXPECT_TRUE(client.read_until("xyz").ends_with("\r\n\r\nxyz"));
  client.forget();
  client.send(post("/echo", 5) + "12345" + post("/echo", 3, "Authorization: yes\r\n") + "uvw");
  EXPECT_TRUE(client.read_until("uvw").ends_with("\r\n\r\nuvw"));
  EXPECT_EQ(guarded.asked, 4);
}

TEST(BodiesTest, without_credentials_a_body_is_small) {
  Guarded guarded;
  auto client = guarded.test.connect();
  client.send(post("/open", 64 * kib) + std::string(64 * kib, 'x'));
  EXPECT_TRUE(client.read_until("<65536>").ends_with("\r\n\r\n<65536>"));
  client.forget();
  client.send(post("/open", 64 * kib + 1));
  const std::string refused = client.read_all();
  EXPECT_EQ(status_of(refused), "HTTP/1.1 413");
  EXPECT_NE(refused.find("without valid credentials"), std::string::npos);
  auto chunked = guarded.test.connect();
  chunked.send("POST /open HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "1000\r\n" + std::string(4096, 'x') + "\r\n";
  for (int i = 0; i < 100 && chunked.send(chunk); ++i) {
  }
  EXPECT_EQ(status_of(chunked.read_all()), "HTTP/1.1 413");
  auto known = guarded.test.connect();
  known.send(post("/echo", 100 * kib, "Authorization: yes\r\n") + std::string(100 * kib, 'x'));
  EXPECT_EQ(status_of(known.read_until("xxx")), "HTTP/1.1 200");
  auto of_route = guarded.test.connect();
  of_route.send(post("/small", 6, "Authorization: yes\r\n"));
  EXPECT_EQ(status_of(of_route.read_all()), "HTTP/1.1 413");
}

TEST(BodiesTest, all_bodies_together_have_a_budget_and_give_it_back) {
  ServerSettings settings;
  settings.bodies.of_all = 300 * kib;
  TestServer test(settings);
  const std::string half(128 * kib, 'x');
  std::vector<testing::RawClient> held;
  for (int i = 0; i < 2; ++i) {
    held.push_back(test.connect());
    held.back().send(post("/echo", 140 * kib) + half);
  }
  ASSERT_TRUE(comes_true([&] { return test.server->buffered_body_bytes() >= 2 * half.size(); }));
  EXPECT_LE(test.server->buffered_body_bytes(), settings.bodies.of_all);
  for (int i = 0; i < 20; ++i) {
    auto more = test.connect();
    more.send(post("/echo", 140 * kib) + half);
    const std::string answer = more.read_all();
    EXPECT_EQ(status_of(answer), "HTTP/1.1 503");
    EXPECT_NE(answer.find("Retry-After: 1"), std::string::npos);
    EXPECT_NE(answer.find("\"requestInfo\""), std::string::npos);
    EXPECT_LE(test.server->buffered_body_bytes(), settings.bodies.of_all);
  }
  EXPECT_TRUE(test.still_serves());  // what has no body needs no room
  held.clear();
  ASSERT_TRUE(comes_true([&] { return test.server->buffered_body_bytes() == 0; }));
  auto after = test.connect();
  after.send(post("/echo", half.size()) + half);
  EXPECT_EQ(status_of(after.read_until("xxx")), "HTTP/1.1 200");
}

TEST(BodiesTest, one_address_has_a_budget_of_its_own) {
  ServerSettings settings;
  settings.peers.loopback_too = true;
  settings.bodies.of_peer = 200 * kib;
  TestServer test(settings);
  auto first = test.connect(), second = test.connect();
  first.send(post("/echo", 140 * kib) + std::string(128 * kib, 'x'));
  ASSERT_TRUE(comes_true([&] { return test.server->buffered_body_bytes() >= 128 * kib; }));
  second.send(post("/echo", 140 * kib) + std::string(128 * kib, 'x'));
  const std::string answer = second.read_all();
  EXPECT_EQ(status_of(answer), "HTTP/1.1 429");
  EXPECT_NE(answer.find("Retry-After: 1"), std::string::npos);
}

TEST(BodiesTest, callers_without_credentials_cannot_take_all_the_room) {
  ServerSettings settings;
  settings.bodies.of_all = 100 * kib;
  Guarded guarded(settings);
  auto stranger = guarded.test.connect();
  stranger.send(post("/open", 60 * kib) + std::string(60 * kib, 'x'));
  EXPECT_EQ(status_of(stranger.read_all()), "HTTP/1.1 503");
  auto known = guarded.test.connect();
  known.send(post("/echo", 60 * kib, "Authorization: yes\r\n") + std::string(60 * kib, 'x'));
  EXPECT_EQ(status_of(known.read_until("xxx")), "HTTP/1.1 200");
}

TEST(BodiesTest, a_body_counts_until_nobody_holds_the_request) {
  std::promise<std::pair<std::shared_ptr<Request>, Reply>> arrived;
  TestServer test({}, [&](Router& router) {
    router.add("POST", "/hold", [&](Request&& request, const Reply& reply) {
      arrived.set_value({std::make_shared<Request>(std::move(request)), reply});
    });
  });
  auto client = test.connect();
  client.send(post("/hold", 50 * kib) + std::string(50 * kib, 'x'));
  auto [request, reply] = arrived.get_future().get();
  EXPECT_GE(test.server->buffered_body_bytes(), 50 * kib);
  request.reset();
  EXPECT_EQ(test.server->buffered_body_bytes(), 0u);
  reply(Response{200, {}, "done"});
  EXPECT_TRUE(client.read_until("done").ends_with("done"));
}

TEST(BodiesTest, large_bodies_are_read_on_other_threads_and_a_few_at_a_time) {
  ServerSettings settings;
  settings.threads = 1;
  std::promise<void> go;
  const auto may_go = go.get_future().share();
  std::atomic<int> at_once = 0, most = 0;
  WorkerThreads readers(2, 3, Log());
  TestServer test(settings, [&](Router& router) {
    router.read_large_bodies_on(readers);
    router.add("POST", "/slow", now([&](const Request& request) {
                 most = std::max<int>(most, ++at_once);
                 may_go.wait();
                 --at_once;
                 return Response{200, {}, "<" + std::to_string(request.body.size()) + ">"};
               }));
  });
  const std::string body(70 * kib, 'x');
  std::vector<testing::RawClient> clients;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(test.connect());
    clients.back().send(post("/slow", body.size(), "Connection: close\r\n") + body);
    // The first two do not stand in the line of the others.
    ASSERT_TRUE(comes_true([&] { return at_once == std::min(i + 1, 2); }));
  }
  // Two are read, three wait, and one is told to come again; nobody else notices.
  ASSERT_TRUE(comes_true([&] { return test.lines->contains("status=503"); }));
  EXPECT_TRUE(test.still_serves());
  go.set_value();
  int good = 0;
  for (auto& client : clients) {
    const std::string answer = client.read_all();
    good += answer.ends_with("<71680>") ? 1 : 0;
    if (answer.ends_with("<71680>")) continue;
    EXPECT_EQ(status_of(answer), "HTTP/1.1 503");
    EXPECT_NE(answer.find("Retry-After: 2"), std::string::npos);
  }
  EXPECT_EQ(good, 5);
  EXPECT_EQ(most, 2);
}

TEST(BodiesTest, a_body_that_is_not_what_was_signed_reaches_no_handler) {
  std::atomic<int> handled = 0;
  TestServer test(
      {},
      [&](Router& router) {
        router.add("POST", "/signed", now([&](const Request&) {
                     ++handled;
                     return Response{200, {}, "handled"};
                   }));
      },
      [](Request& request) -> std::optional<Response> {
        request.client_id = "known";
        request.verify_body = [](const Request& whole) -> std::optional<Response> {
          if (whole.body == "good") return std::nullopt;
          return error_answer(whole, 401, "AuthenticationFailed", "another body");
        };
        return std::nullopt;
      });
  auto client = test.connect();
  client.send(post("/signed", 4) + "evil");
  EXPECT_EQ(status_of(client.read_until("another body")), "HTTP/1.1 401");
  EXPECT_EQ(handled, 0);
  client.send(post("/signed", 4) + "good");
  client.read_until("handled");
  EXPECT_EQ(handled, 1);
}

}  // namespace
}  // namespace muster::http
