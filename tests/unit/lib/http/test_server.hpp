// A server with a few routes, for one test.
#pragma once

#include <future>

#include "lib/http/answer.hpp"
#include "lib/http/server.hpp"
#include "tests/support/raw_client.hpp"
#include "tests/support/recorded_log.hpp"

namespace muster::http {

struct TestServer {
  explicit TestServer(
      ServerSettings settings = {}, const std::function<void(Router&)>& more = [](Router&) {},
      Router::Guard guard = {})
      : router(log, std::move(guard)) {
    more(router);
    router.add("GET", "/hello", now([](const Request&) { return Response{200, {}, "hello"}; }));
    router.add("POST", "/echo", now([](const Request& request) {
                 return Response{200, {}, request.body};
               }));
    router.add("GET", "/empty", now([](const Request&) { return Response{204, {}, ""}; }));
    // Answered when the test says so, from the test's thread.
    router.add("GET", "/wait", [this](Request&&, const Reply& reply) { waiting.set_value(reply); });
    auto made = Server::listen(settings, router, clock, log);
    if (!made) throw std::runtime_error(made.error().message);
    server = std::move(*made);
    server->start();
  }

  testing::RawClient connect() const { return testing::RawClient(server->port()); }

  // Whether a new client is served as if nothing had happened.
  bool still_serves() const {
    auto client = connect();
    client.send("GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    return client.read_all().ends_with("\r\n\r\nhello");
  }

  std::shared_ptr<testing::RecordedLog> lines = std::make_shared<testing::RecordedLog>();
  Log log{lines, LogLevel::info, LogFormat::text};
  SystemClock clock;
  Router router;
  std::promise<Reply> waiting;
  std::unique_ptr<Server> server;
};

}  // namespace muster::http
