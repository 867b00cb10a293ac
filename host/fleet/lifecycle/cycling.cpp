#include "host/fleet/lifecycle/cycling.hpp"

#include <algorithm>
#include <cmath>

namespace muster::lifecycle {
namespace {

using fleet::Lifecycle;
using std::chrono::days;
using std::chrono::minutes;

bool is_on(const Lifecycle::Window& window, std::chrono::sys_days day) {
  const auto weekday = static_cast<int>(std::chrono::weekday(day).c_encoding());
  return window.weekdays.empty() ||
         std::ranges::find(window.weekdays, weekday) != window.weekdays.end();
}

// The day of a window is the day on which it begins.
bool inside(const Lifecycle::Window& window, Time now) {
  const auto day = std::chrono::floor<days>(now);
  const auto passed = now - day;
  if (window.from < window.to)
    return is_on(window, day) && passed >= window.from && passed < window.to;
  return (is_on(window, day) && passed >= window.from) ||
         (is_on(window, day - days(1)) && passed < window.to);
}

}  // namespace

std::int64_t cycling_room(const Lifecycle::CyclingBudget& budget, std::int64_t workers) {
  if (budget.workers) return *budget.workers;
  return static_cast<std::int64_t>(std::ceil(budget.share * static_cast<double>(workers) - 1e-9));
}

bool inside_window(const std::vector<Lifecycle::Window>& windows, Time now) {
  return windows.empty() ||
         std::ranges::any_of(windows, [&](const auto& window) { return inside(window, now); });
}

Time next_window_edge(const std::vector<Lifecycle::Window>& windows, Time now) {
  const auto today = std::chrono::floor<days>(now);
  Time next = today + days(1);
  for (const auto& window : windows)
    for (const minutes edge : {window.from, window.to})
      if (const Time at = today + edge; at > now) next = std::min(next, at);
  return next;
}

}  // namespace muster::lifecycle
