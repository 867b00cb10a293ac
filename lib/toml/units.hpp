// The three kinds of text that a configuration writes values in.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::config {

// "500ms", "30s", "5m", "1h".
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);
std::string to_duration_text(std::chrono::milliseconds duration);  // the largest unit that is exact

// "64KiB", "512MiB", "2GiB", in bytes.
std::optional<std::uint64_t> parse_size(std::string_view text);

struct ListenAddress {
  std::string address;  // an IP address, without brackets
  std::uint16_t port = 0;
  bool loopback = false;
  friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};

// "127.0.0.1:8600", "[::1]:8600", "localhost:8600". Port 0: any that is free.
std::optional<ListenAddress> parse_listen_address(std::string_view text);
std::string to_string(const ListenAddress& listen);

}  // namespace muster::config
