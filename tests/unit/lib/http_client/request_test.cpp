// What is sent, and what is refused before anything is sent.
#include <curl/curl.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/http_client/client.hpp"
#include "tests/support/scripted_server.hpp"

namespace muster::http_client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::ScriptedServer;
using Kind = Failure::Kind;

struct Requests : ::testing::Test {
  std::string sent(Request request) {
    request.url = server.url() + request.url;
    const Answer answer = Client({}).send(std::move(request));
    return answer ? server.requests().back() : answer.error().message;
  }
  ScriptedServer server{[](const std::string&) { return ScriptedServer::ok("fine"); }};
};

TEST_F(Requests, no_header_can_hold_another_one) {
  const std::string line_ends[] = {"a\r\nX-Evil: 1", "a\nX-Evil: 1", "a\rb", std::string("a\0b", 3),
                                   "a\x7f"};
  for (const std::string& value : line_ends) {
    EXPECT_EQ(sent({.url = "/", .headers = {{"X", value}}}),
              "the header X has a line end or a control character in it");
    EXPECT_EQ(sent({.url = "/", .authorization = BearerToken{Secret(value)}}),
              "the header Authorization has a line end or a control character in it");
    EXPECT_EQ(sent({.url = "/", .authorization = HawkSignature{{value, Secret("k")}}}),
              "the header Authorization has a line end or a control character in it");
  }
  for (const std::string& name : {std::string(), std::string("X Y"), std::string("X:"),
                                  std::string("X\r\nY"), std::string("\xc3\xa4")})
    EXPECT_EQ(sent({.url = "/", .headers = {{name, "1"}}}),
              "a header has a name that HTTP does not allow");
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(Requests, a_url_that_is_none_is_not_sent_and_a_password_not_repeated) {
  Client client({});
  for (const std::string& url :
       {std::string("ftp://127.0.0.1/"), std::string("nonsense"), server.url() + "/a b",
        server.url() + "/\r\nX-Evil: 1", server.url() + "/\xff",
        "http://user:hunter2@127.0.0.1:" + std::to_string(server.port())}) {
    const Answer answer = client.send({.url = url});
    ASSERT_FALSE(answer) << url;
    EXPECT_EQ(answer.error().kind, Kind::bad_request) << url;
    EXPECT_THAT(answer.error().description(), Not(HasSubstr("hunter2")));
  }
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(Requests, targets_are_sent_as_they_are_written) {
  EXPECT_THAT(sent({.url = "/a%2Fb/../c/./d?x=%20&y"}),
              HasSubstr("GET /a%2Fb/../c/./d?x=%20&y HTTP/1.1\r\n"));
  EXPECT_THAT(sent({.url = ""}), HasSubstr("GET / HTTP/1.1\r\n"));
  EXPECT_THAT(sent({.url = "/x#fragment"}), HasSubstr("GET /x HTTP/1.1\r\n"));
}

TEST_F(Requests, methods_headers_and_bodies) {
  const std::string put =
      sent({.url = "/x",
            .method = "PUT",
            .headers = {{"X-One", "1"}, {"X-Bytes", "\xc3\xa4\xff"}, {"X-Empty", ""}},
            .body = std::string("a\0b", 3)});
  EXPECT_THAT(put, HasSubstr("PUT /x HTTP/1.1\r\n"));
  EXPECT_THAT(put, HasSubstr("\r\nX-One: 1\r\n"));
  EXPECT_THAT(put, HasSubstr("\r\nX-Bytes: \xc3\xa4\xff\r\n"));
  EXPECT_THAT(put, HasSubstr("\r\nX-Empty:\r\n"));
  EXPECT_THAT(put, HasSubstr("Content-Length: 3\r\n"));
  EXPECT_TRUE(put.ends_with(std::string("\r\n\r\na\0b", 7)));
  EXPECT_THAT(put, Not(HasSubstr("Content-Type")));
  EXPECT_THAT(put, Not(HasSubstr("Expect")));
  EXPECT_THAT(sent({.url = "/x", .method = "DELETE"}), HasSubstr("DELETE /x HTTP/1.1\r\n"));
  EXPECT_THAT(sent({.url = "/x", .method = "POST", .body = ""}),
              HasSubstr("Content-Length: 0\r\n"));
}

TEST_F(Requests, a_bearer_token_is_sent_and_none_if_there_is_none) {
  EXPECT_THAT(sent({.url = "/", .authorization = BearerToken{Secret("my-token")}}),
              HasSubstr("\r\nAuthorization: Bearer my-token\r\n"));
  EXPECT_THAT(sent({.url = "/"}), Not(HasSubstr("Authorization")));
}

// What is checked and signed must be what libcurl connects to.
TEST(Urls, are_understood_as_libcurl_understands_them) {
  for (const char* text :
       {"http://example.com", "https://example.com:8443/a%2Fb?x=%20#f",
        "http://[2001:DB8:0:0::1]:80/", "https://127.0.0.1.example/x", "http://10.0.0.1",
        "http://a_b-c.example/?q", "http://h/a/../b", "http://h/;a=1,2"}) {
    const auto ours = parse_http_url(text);
    ASSERT_TRUE(ours) << text;
    const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> theirs(curl_url(), curl_url_cleanup);
    ASSERT_EQ(curl_url_set(theirs.get(), CURLUPART_URL, text, CURLU_PATH_AS_IS), CURLUE_OK) << text;
    const auto part = [&](CURLUPart which) {
      char* found = nullptr;
      if (curl_url_get(theirs.get(), which, &found, CURLU_DEFAULT_PORT) != CURLUE_OK)
        return std::string();
      const std::unique_ptr<char, decltype(&curl_free)> owned(found, curl_free);
      return std::string(found);
    };
    EXPECT_EQ(ours->host, part(CURLUPART_HOST)) << text;
    EXPECT_EQ(std::to_string(ours->port), part(CURLUPART_PORT)) << text;
    const std::string query = part(CURLUPART_QUERY);
    EXPECT_EQ(ours->target, part(CURLUPART_PATH) + (query.empty() ? "" : "?" + query)) << text;
  }
}

}  // namespace
}  // namespace muster::http_client
