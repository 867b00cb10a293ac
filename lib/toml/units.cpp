#include "lib/toml/units.hpp"

#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <netinet/in.h>
#include <utility>

namespace muster::config {
namespace {

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 4> durations{
    {{"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};
constexpr std::array<std::pair<std::string_view, std::uint64_t>, 3> sizes{
    {{"KiB", 1ull << 10}, {"MiB", 1ull << 20}, {"GiB", 1ull << 30}}};
constexpr std::uint64_t largest_number = 999'999'999;  // times any unit it still fits 64 bits

template <class Units>
std::optional<std::uint64_t> parse(std::string_view text, const Units& units) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || number > largest_number) return std::nullopt;
  const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  for (const auto& [unit, factor] : units)
    if (suffix == unit) return number * factor;
  return std::nullopt;
}

}  // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const auto parsed = parse(text, durations);
  if (!parsed) return std::nullopt;
  return std::chrono::milliseconds(*parsed);
}

std::string to_duration_text(std::chrono::milliseconds duration) {
  const auto count = static_cast<std::uint64_t>(duration.count());
  for (const auto& [unit, factor] : durations)
    if (count % factor == 0) return std::to_string(count / factor) + std::string(unit);
  return {};
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  return parse(text, sizes);
}

std::optional<ListenAddress> parse_listen_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view port = text.substr(colon + 1);
  ListenAddress listen;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), listen.port);
  if (error != std::errc() || end != port.data() + port.size()) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host == "localhost") host = "127.0.0.1";
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  listen.address = host;
  in6_addr six{};
  in_addr four{};
  if (bracketed) {
    if (::inet_pton(AF_INET6, listen.address.c_str(), &six) != 1) return std::nullopt;
    listen.loopback = IN6_IS_ADDR_LOOPBACK(&six);
  } else {
    if (::inet_pton(AF_INET, listen.address.c_str(), &four) != 1) return std::nullopt;
    listen.loopback = (ntohl(four.s_addr) >> 24) == 127;
  }
  return listen;
}

std::string to_string(const ListenAddress& listen) {
  const bool six = listen.address.find(':') != std::string::npos;
  return (six ? "[" + listen.address + "]" : listen.address) + ":" + std::to_string(listen.port);
}

}  // namespace muster::config
