#include "lib/hawk/server_clock.hpp"

#include <gtest/gtest.h>

#include "lib/hawk/hawk.hpp"

namespace muster::hawk {
namespace {

using namespace std::chrono_literals;

const Time now(std::chrono::seconds(1'700'000'000));
const Secret key("k");

TEST(ServerClock, a_challenge_that_is_not_signed_with_our_key_teaches_nothing) {
  ServerClock clock;
  for (const std::string& challenge :
       {std::string(), std::string("Basic"), std::string("Hawk"),
        std::string("Hawk ts=\"1\", tsm=\"x\""), time_challenge(1'700'009'999, Secret("other")),
        time_challenge(-5, key), time_challenge(std::numeric_limits<std::int64_t>::max(), key)})
    EXPECT_FALSE(clock.observe_challenge(challenge, key, now)) << challenge;
  EXPECT_EQ(clock.offset(), 0ms);
  EXPECT_FALSE(clock.explains_refusal(0ms));
}

TEST(ServerClock, learns_how_far_the_server_is_ahead) {
  ServerClock clock;
  EXPECT_TRUE(clock.observe_challenge(time_challenge(1'700'003'600, key), key, now));
  EXPECT_EQ(clock.offset(), 1h);
  EXPECT_EQ(clock.time(now), now + 1h);
  EXPECT_TRUE(clock.explains_refusal(0ms));
  EXPECT_FALSE(clock.explains_refusal(1h));
  clock.observe(now - 2h, now);
  EXPECT_EQ(clock.offset(), -2h);
}

TEST(ServerClock, whole_seconds_are_no_difference) {
  ServerClock clock;
  clock.observe(now - 1999ms, now);
  EXPECT_EQ(clock.offset(), 0ms);
  clock.observe(now + 29s, now);
  EXPECT_EQ(clock.offset(), 29s);
  EXPECT_FALSE(clock.explains_refusal(0ms));
}

TEST(HttpDate, other_forms_are_nothing) {
  for (const char* text : {"", "now", "Sun, 06 Nov 1994 08:49:37 CET",
                           "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 24:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                           "Sun Nov  6 08:49:37 1994", "Sun, 6 Nov 1994 08:49:37 GMT",
                           "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08-49-37 GMT"})
    EXPECT_FALSE(parse_http_date(text)) << text;
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"),
            Time(std::chrono::seconds(784111777)));
}

TEST(Authorization, names_an_ipv6_host_in_brackets_and_signs_the_body) {
  const Credentials credentials{"me", key, ""};
  const auto url = parse_http_url("http://[::1]:8600/a%2Fb?c=d").value();
  const std::string hash = payload_hash("application/json", "{}");
  const auto header = parse_header(authorization_for(credentials, "POST", url, now, hash)).value();
  EXPECT_EQ(header.hash, hash);
  EXPECT_EQ(header.ts, "1700000000");
  EXPECT_EQ(header.mac,
            mac_of(key, normalized("header", header, {"POST", "/a%2Fb?c=d", "[::1]", 8600})));
}

}  // namespace
}  // namespace muster::hawk
