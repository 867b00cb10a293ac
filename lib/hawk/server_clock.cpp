#include "lib/hawk/server_clock.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "lib/hawk/hawk.hpp"

namespace muster::hawk {
namespace {

using namespace std::chrono_literals;

constexpr auto smallest_offset = 2s;
// Servers accept at least a minute (Hawk's own default). A smaller correction changes no refusal.
constexpr auto decisive_offset = 30s;

}  // namespace

void ServerClock::observe(Time date, Time now) {
  const auto offset = date - now;
  offset_ = std::chrono::abs(offset) < smallest_offset ? 0ms : offset;
}

bool ServerClock::observe_challenge(std::string_view www_authenticate, const Secret& key,
                                    Time now) {
  const auto seconds = server_time(www_authenticate, key);
  // Times beyond what milliseconds can hold are nonsense, even signed.
  if (!seconds || *seconds < 0 || *seconds > std::int64_t{1} << 40) return false;
  observe(Time(std::chrono::seconds(*seconds)), now);
  return true;
}

bool ServerClock::explains_refusal(std::chrono::milliseconds used) const {
  return std::chrono::abs(offset() - used) >= decisive_offset;
}

std::optional<Time> parse_http_date(std::string_view text) {
  constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != 29 || text.substr(25) != " GMT" || text[16] != ' ' || text[19] != ':' ||
      text[22] != ':')
    return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = -1;
    const char* const end = text.data() + at + digits;
    const auto [stop, error] = std::from_chars(text.data() + at, end, value);
    return error == std::errc() && stop == end ? value : -1;
  };
  const auto month = std::ranges::find(months, text.substr(8, 3));
  const int day = number(5, 2), year = number(12, 4), hour = number(17, 2), minute = number(20, 2),
            second = number(23, 2);
  if (month == months.end() || day < 1 || day > 31 || year < 1970 || hour < 0 || hour > 23 ||
      minute < 0 || minute > 59 || second < 0 || second > 60)
    return std::nullopt;
  using namespace std::chrono;
  const sys_days date = std::chrono::year(year) /
                        std::chrono::month(static_cast<unsigned>(month - months.begin()) + 1) /
                        std::chrono::day(static_cast<unsigned>(day));
  return Time(date + hours(hour) + minutes(minute) + seconds(second));
}

}  // namespace muster::hawk
