#include "lib/url/url.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

// "tls host port target", or what is wrong.
std::string shown(std::string_view text) {
  const auto url = parse_http_url(text);
  if (!url) return url.error().message;
  return (url->tls ? "tls " : "plain ") + url->host + " " + std::to_string(url->port) + " " +
         url->target;
}

TEST(Url, what_is_no_url_of_a_server_is_refused) {
  for (const char* text : {"", "nonsense", "example.com", "//example.com/", "http//x", "http:/x",
                           "ftp://example.com/", "file:///etc/passwd", " http://a/"})
    EXPECT_EQ(shown(text), "must begin with http:// or https://") << text;
  for (const char* text : {"http:///x", "http://:80/x", "http://", "https://?x"})
    EXPECT_EQ(shown(text), "has no host") << text;
  for (const char* text :
       {"http://a b/", "http://h\xc3\xb6st/", "http://a\nb/", "http://a%41/", "http://[::1",
        "http://[]/", "http://[::1]x/", "http://[x]/", "http://[::1%25eth0]/",
        "http://[127.0.0.1]/", "http://a\\b/", "http://a,b/", "http://./", "http://a../"})
    EXPECT_EQ(shown(text), "has a host that is neither a name nor an address") << text;
  for (const char* text : {"http://a/\n", "http://a/\r\nX: y", "http://a/ b", "http://a/\xff",
                           "http://a/%zz", "http://a/%4", "http://a/%", "http://a/\"b\"",
                           "http://a/#\r\n", "http://a/\\b", "http://a/x#y#z"})
    EXPECT_EQ(shown(text), "has characters that a URL may not have; write them as %xx") << text;
  EXPECT_NE(shown(std::string_view("http://a/\0b", 11)), "plain a 80 /");
}

TEST(Url, a_host_that_looks_like_a_number_is_an_ipv4_address_or_nothing) {
  for (const char* text : {"http://127.1/", "http://2130706433/", "http://0x7f000001/",
                           "http://1.2.3.256/", "http://127.0.0.1./", "http://a.0x1/"})
    EXPECT_EQ(shown(text), "has a host that is neither a name nor an address") << text;
  EXPECT_EQ(shown("http://10.0.0.1.example/x"), "plain 10.0.0.1.example 80 /x");
  EXPECT_EQ(shown("http://10.0.0.1"), "plain 10.0.0.1 80 /");
}

TEST(Url, users_and_impossible_ports_are_refused) {
  for (const char* text : {"http://user@example.com/", "https://user:password@example.com",
                           "https://@example.com", "http://a:b@[::1]:1/"})
    EXPECT_EQ(shown(text), "has a user name or a password in it") << text;
  for (const char* text : {"http://a:0/", "http://a:65536/", "http://a:99999999999999999999/",
                           "http://a:x/", "http://a:-1/", "http://a:/"})
    EXPECT_EQ(shown(text), "has a port that is not between 1 and 65535") << text;
}

TEST(Url, a_message_never_repeats_a_password) {
  EXPECT_EQ(parse_http_url("https://u:hunter2@h/").error().code, url_has_user);
  EXPECT_EQ(parse_http_url("https://u:hunter2@h/").error().message.find("hunter2"),
            std::string::npos);
}

TEST(Url, parts_stay_as_they_are_written) {
  EXPECT_EQ(shown("http://example.com"), "plain example.com 80 /");
  EXPECT_EQ(shown("HTTPS://Example.com"), "tls Example.com 443 /");
  EXPECT_EQ(shown("http://h:8600/a%2Fb/../c?x=%20&y=1#f"), "plain h 8600 /a%2Fb/../c?x=%20&y=1");
  EXPECT_EQ(shown("http://h?x"), "plain h 80 /?x");
  EXPECT_EQ(shown("http://h/?"), "plain h 80 /?");
  EXPECT_EQ(shown("https://[2001:DB8:0::1]:8443/b"), "tls [2001:db8::1] 8443 /b");
  EXPECT_EQ(parse_http_url("HTTP://h:80/a?b#c")->text(), "http://h/a?b");
  EXPECT_TRUE(parse_http_url("http://h/#x")->has_fragment);
  EXPECT_FALSE(parse_http_url("http://h/#x")->has_query);
}

TEST(Url, hosts_for_headers_and_for_resolvers) {
  EXPECT_EQ(parse_http_url("https://[::1]:8443/")->host_header(), "[::1]:8443");
  EXPECT_EQ(parse_http_url("https://[::1]:8443/")->address(), "::1");
  EXPECT_EQ(parse_http_url("https://a.example:443")->host_header(), "a.example");
  EXPECT_EQ(parse_http_url("http://a.example:443")->host_header(), "a.example:443");
}

TEST(Url, loopback_is_known_by_name_and_by_address) {
  for (const char* text : {"http://localhost/", "http://127.0.0.1:1/", "http://[::1]/"})
    EXPECT_TRUE(parse_http_url(text)->is_loopback()) << text;
  for (const char* text :
       {"http://localhost.example/", "http://127.0.0.1.example/", "http://[::2]/"})
    EXPECT_FALSE(parse_http_url(text)->is_loopback()) << text;
}

TEST(EncodeSegment, leaves_only_what_needs_no_escape) {
  EXPECT_EQ(encode_segment("aZ0-._~"), "aZ0-._~");
  EXPECT_EQ(encode_segment("a/b c?#%\n\xff"), "a%2Fb%20c%3F%23%25%0A%FF");
}

}  // namespace
}  // namespace muster
