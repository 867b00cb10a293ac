#include "lib/toml/units.hpp"

#include <gtest/gtest.h>

namespace muster::config {
namespace {

using namespace std::chrono_literals;

TEST(Units, durations_that_are_none) {
  for (const char* bad : {"", "s", "10", "10 s", "-1s", "+1s", "1.5s", "1S", "1sec", "0x1s",
                          "9999999999s", "99999999999999999999999s"})
    EXPECT_FALSE(parse_duration(bad)) << bad;
}

TEST(Units, durations_read_and_write_back) {
  EXPECT_EQ(parse_duration("500ms"), 500ms);
  EXPECT_EQ(parse_duration("90s"), 90s);
  EXPECT_EQ(parse_duration("5m"), 5min);
  EXPECT_EQ(parse_duration("1h"), 1h);
  EXPECT_EQ(to_duration_text(1h), "1h");
  EXPECT_EQ(to_duration_text(90s), "90s");
  EXPECT_EQ(to_duration_text(1001ms), "1001ms");
}

TEST(Units, sizes) {
  for (const char* bad : {"", "1", "1MB", "1 MiB", "1mib", "-1KiB"})
    EXPECT_FALSE(parse_size(bad)) << bad;
  EXPECT_EQ(parse_size("2KiB"), 2048u);
  EXPECT_EQ(parse_size("999999999GiB"), 999999999ull << 30);
}

TEST(Units, listen_addresses_that_are_none) {
  for (const char* bad : {"", ":", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:-1",
                          "127.0.0.1:65536", "127.0.0.1:80 ", "::1:80", "[127.0.0.1]:80", "[::1:80",
                          "example.com:80", "256.0.0.1:80", "http://127.0.0.1:80"})
    EXPECT_FALSE(parse_listen_address(bad)) << bad;
}

TEST(Units, listen_addresses) {
  EXPECT_EQ(parse_listen_address("127.0.0.1:0"), (ListenAddress{"127.0.0.1", 0, true}));
  EXPECT_EQ(parse_listen_address("[::1]:65535"), (ListenAddress{"::1", 65535, true}));
  EXPECT_EQ(parse_listen_address("0.0.0.0:80"), (ListenAddress{"0.0.0.0", 80, false}));
  EXPECT_EQ(to_string(*parse_listen_address("[::1]:80")), "[::1]:80");
  EXPECT_EQ(to_string(*parse_listen_address("localhost:80")), "127.0.0.1:80");
}

}  // namespace
}  // namespace muster::config
