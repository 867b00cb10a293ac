#include "plugins/base/quantities.hpp"

#include <array>
#include <charconv>

namespace muster {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

template <std::size_t N>
std::optional<std::int64_t> parse(std::string_view text, const std::array<Unit, N>& units,
                                  std::int64_t most) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  const std::string_view name(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const Unit& unit : units)
    if (unit.name == name && number <= most / unit.factor) return number * unit.factor;
  return std::nullopt;
}

}  // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  static constexpr std::array<Unit, 4> units{
      {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}}};
  const auto number = parse(text, units, std::int64_t{366} * 24 * 3'600'000);
  if (!number) return std::nullopt;
  return std::chrono::milliseconds(*number);
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  static constexpr std::array<Unit, 5> units{{{"", 1},
                                              {"KiB", 1 << 10},
                                              {"MiB", 1 << 20},
                                              {"GiB", 1 << 30},
                                              {"TiB", std::int64_t{1} << 40}}};
  return parse(text, units, std::int64_t{1} << 50);
}

}  // namespace muster
