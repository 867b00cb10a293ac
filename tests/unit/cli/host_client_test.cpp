// The client against a server that judges requests as the host does.
#include "cli/host_client.hpp"

#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/auth/guard.hpp"
#include "lib/base/fake_clock.hpp"
#include "lib/base/file_descriptor.hpp"
#include "lib/http/answer.hpp"
#include "lib/http/server.hpp"
#include "tests/support/recorded_log.hpp"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

// Says a few words and ends.
class Words final : public http::Stream {
 public:
  More pull(std::string& out) override {
    out += "data: " + std::to_string(said_) + "\n\n";
    return ++said_ < 3 ? More::yes : More::end;
  }

 private:
  int said_ = 0;
};

// Never says anything again.
class Silence final : public http::Stream {
 public:
  More pull(std::string&) override { return More::yes; }
};

class HostClientTest : public ::testing::Test {
 protected:
  HostClientTest() {
    auth::Client client;
    client.client_id = "me";
    client.keys = {{Secret("the-secret-of-me")}};
    client.scopes = {"muster:get"};
    authority.put(client);
    router.add("GET", "/api/{*any}", http::now([](const http::Request& request) {
                 return http::json_answer(json::object{
                     {"who", request.client_id}, {"path", request.path}, {"query", request.query}});
               }));
    router.add("POST", "/api/x", http::now([](const http::Request& request) {
                 return http::json_answer(*json::parse(request.body));
               }));
    router.add("GET", "/stream/{kind}", [](http::Request&& request, const http::Reply& reply) {
      http::Response response{200, {{"Content-Type", "text/event-stream"}}, ": hello\n\n"};
      if (request.path_parameter("kind") == "words")
        response.stream = std::make_shared<Words>();
      else
        response.stream = std::make_shared<Silence>();
      reply(std::move(response));
    });
    router.add("GET", "/html", http::now([](const http::Request&) {
                 return http::Response{200, {}, "<html>"};
               }));
    router.add("GET", "/missing", http::now([](const http::Request&) {
                 return http::Response{404, {}, "<html>"};
               }));
    auto made = http::Server::listen({}, router, system, log);
    if (!made) throw std::runtime_error(made.error().message);
    server = std::move(*made);
    server->start();
    address.url = "http://127.0.0.1:" + std::to_string(server->port());
    address.client_id = "me";
    address.access_token = "the-secret-of-me";
  }

  Log log{std::make_shared<testing::RecordedLog>(), LogLevel::info, LogFormat::text};
  SystemClock system;
  FakeClock host_clock{system.now()};
  auth::Authority authority{host_clock};
  http::Router router{log, auth::Guard(authority, {})};
  std::unique_ptr<http::Server> server;
  HostAddress address;
};

TEST_F(HostClientTest, a_refusal_says_what_to_do) {
  address.access_token = "wrong";
  address.origin = "TASKCLUSTER_ROOT_URL";
  const auto wrong = HostClient(address).get("/api/x");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().error_class, ErrorClass::auth);
  EXPECT_THAT(wrong.error().message, HasSubstr("access token of me"));
  EXPECT_THAT(wrong.error().message, HasSubstr("from TASKCLUSTER_ROOT_URL"));
  EXPECT_THAT(wrong.error().message, HasSubstr("muster login"));
  address.access_token = "the-secret-of-me";
  const auto lacks = HostClient(address).post("/api/x", {});
  ASSERT_FALSE(lacks);
  EXPECT_EQ(lacks.error().code, "InsufficientScopes");
  EXPECT_THAT(lacks.error().message, HasSubstr("muster:admin"));
  EXPECT_THAT(lacks.error().message, HasSubstr("muster whoami"));
}

TEST_F(HostClientTest, something_else_at_the_address_is_told) {
  const auto html = HostClient(address).get("/html");
  ASSERT_FALSE(html);
  EXPECT_THAT(html.error().message, HasSubstr("is it a musterd?"));
  const auto missing = HostClient(address).get("/missing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().error_class, ErrorClass::not_found);
  EXPECT_THAT(missing.error().message, HasSubstr("is that address a musterd?"));
}

TEST_F(HostClientTest, what_cannot_be_reached_is_told_apart) {
  address.url = "http://127.0.0.1:1";
  EXPECT_THAT(HostClient(address).get("/api/x").error().message, HasSubstr("is musterd running"));
  address.url = "gopher://x";
  EXPECT_EQ(HostClient(address).get("/api/x").error().error_class, ErrorClass::invalid);
  address.url = "https://127.0.0.1:" + std::to_string(server->port());
  EXPECT_THAT(HostClient(address).get("/api/x").error().message, HasSubstr("no TLS"));
  address.ca_file = "/nowhere.pem";
  EXPECT_THAT(HostClient(address).get("/api/x").error().message, HasSubstr("/nowhere.pem"));
}

TEST_F(HostClientTest, requests_are_signed_with_their_escapes_and_query) {
  const auto answer = HostClient(address).get("/api/pools/a%2Fb?limit=1&x=%20");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->at("who").as_string(), "me");
  EXPECT_EQ(answer->at("path").as_string(), "/api/pools/a%2Fb");
  EXPECT_EQ(answer->at("query").as_string(), "limit=1&x=%20");
}

TEST_F(HostClientTest, a_clock_that_differs_is_corrected_once) {
  host_clock.advance(3h);
  HostClient client(address);
  const auto answer = client.get("/api/x");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(client.get("/api/y"));
  std::string heard;
  ASSERT_TRUE(HostClient(address).stream("/stream/words", "", -1,
                                         [&](std::string_view bytes) { heard += bytes; }));
  EXPECT_THAT(heard, HasSubstr("data: 2"));
}

TEST_F(HostClientTest, a_stream_ends_with_its_server_or_when_it_is_told) {
  HostClient client(address);
  std::string heard;
  ASSERT_TRUE(
      client.stream("/stream/words", "7", -1, [&](std::string_view bytes) { heard += bytes; }));
  EXPECT_EQ(heard, ": hello\n\ndata: 0\n\ndata: 1\n\ndata: 2\n\n");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const FileDescriptor stop(ends[0]), say(ends[1]);
  ASSERT_TRUE(client.stream("/stream/silence", "", stop.get(),
                            [&](std::string_view) { EXPECT_EQ(::write(say.get(), "x", 1), 1); }));
  const auto refused = client.stream("/nothing", "", -1, [](std::string_view) {});
  EXPECT_FALSE(refused);
}

TEST_F(HostClientTest, what_the_listener_throws_comes_out) {
  HostClient client(address);
  EXPECT_THROW((void)client.stream("/stream/words", "", -1,
                                   [](std::string_view) { throw std::runtime_error("enough"); }),
               std::runtime_error);
}

}  // namespace
}  // namespace muster::cli
