#include "plugins/http_service/endpoint.hpp"

#include <gtest/gtest.h>

namespace muster::http_service {
namespace {

std::string mistake(json::object config) {
  const auto read = read_endpoint(config, 2);
  return read ? "accepted" : read.error().message;
}

TEST(Endpoint, refuses_addresses_that_are_none_or_hold_secrets) {
  EXPECT_EQ(mistake({}), "url: is missing");
  EXPECT_EQ(mistake({{"url", 7}}), "url: expected a string, got the number 7");
  for (const char* url : {"", "/path", "http://", "http://a b/", "localhost:80", "http://:80"})
    EXPECT_NE(mistake({{"url", url}}), "accepted") << url;
  for (const char* url : {"ftp://127.0.0.1/", "file:///etc/passwd", "gopher://127.0.0.1/"})
    EXPECT_EQ(mistake({{"url", url}}), "url: must begin with http:// or https://") << url;
  EXPECT_EQ(mistake({{"url", "https://me:secret@fleet.example"}}),
            "url: has a password in it, which would end up in logs; use tokenFile");
  EXPECT_EQ(mistake({{"url", "https://fleet.example/?key=secret"}}),
            "url: has a query or a fragment; methods are appended to its path");
}

TEST(Endpoint, refuses_clear_text_to_other_machines_unless_it_is_told_to) {
  for (const char* url :
       {"http://fleet.example", "http://10.0.0.1", "http://127.0.0.1.evil.example", "http://[::2]",
        "http://localhost.evil.example"}) {
    EXPECT_NE(mistake({{"url", url}}).find("clear text"), std::string::npos) << url;
    EXPECT_EQ(mistake({{"url", url}, {"plainHttp", true}}), "accepted") << url;
  }
  for (const char* url : {"http://localhost:8080", "http://127.0.0.1", "http://127.1.2.3:1/x",
                          "http://[::1]:80", "https://fleet.example/muster"})
    EXPECT_EQ(mistake({{"url", url}}), "accepted") << url;
}

TEST(Endpoint, says_which_key_is_wrong) {
  const char* url = "https://fleet.example";
  EXPECT_EQ(mistake({{"url", url}, {"tokenFile", "token"}}),
            "tokenFile: \"token\" is not an absolute path");
  EXPECT_EQ(mistake({{"url", url}, {"tokenFile", "/t"}, {"tokenEnvironment", "T"}}),
            "tokenFile: there is tokenEnvironment, too; keep one");
  EXPECT_EQ(mistake({{"url", url}, {"timeoutSeconds", 0}}),
            "timeoutSeconds: is not between 0.001 and 3600");
  EXPECT_EQ(mistake({{"url", url}, {"maxAnswerBytes", 7}}),
            "maxAnswerBytes: is not between 1024 and 1073741824");
}

TEST(Endpoint, has_defaults_and_no_slash_at_its_end) {
  const auto endpoint = read_endpoint({{"url", "https://fleet.example/muster//"}}, 2);
  ASSERT_TRUE(endpoint);
  EXPECT_EQ(endpoint->url, "https://fleet.example/muster");
  EXPECT_EQ(endpoint->timeout_seconds, 2);
  EXPECT_EQ(endpoint->max_answer_bytes, 16 << 20);
}

}  // namespace
}  // namespace muster::http_service
