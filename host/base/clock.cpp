#include "host/base/clock.hpp"

#include <cstdio>

namespace muster {

Time SystemClock::now() const {
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

SteadyTime SystemClock::steady() const {
  return std::chrono::steady_clock::now();
}

std::string to_iso8601(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  char text[64];
  const int size = std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
                                 int(date.year()), unsigned(date.month()), unsigned(date.day()),
                                 int(clock.hours().count()), int(clock.minutes().count()),
                                 int(clock.seconds().count()), int(clock.subseconds().count()));
  return {text, static_cast<std::size_t>(size)};
}

}  // namespace muster
