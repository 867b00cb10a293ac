#include "host/fleet/model/health.hpp"

#include <algorithm>
#include <numeric>

namespace muster::bidding {
namespace {

using std::chrono::minutes;

std::int64_t minute_of(Time time) {
  return std::chrono::floor<minutes>(time).time_since_epoch().count();
}

constexpr std::int64_t kept_minutes = minutes(health_window).count();

}  // namespace

std::int64_t HealthCounts::errors() const {
  return std::accumulate(errors_by_class.begin(), errors_by_class.end(), std::int64_t{0});
}

HealthCounts& HealthCounts::operator+=(const HealthCounts& other) {
  tried += other.tried;
  failed += other.failed;
  registered += other.registered;
  claimed += other.claimed;
  for (std::size_t i = 0; i < errors_by_class.size(); ++i)
    errors_by_class[i] += other.errors_by_class[i];
  return *this;
}

// Minutes in the future are of a clock that was set back: what they say happened just now.
HealthCounts& Health::at(Time now) {
  const std::int64_t minute = minute_of(now);
  if (!minutes_.empty() && minutes_.back().minute > minute) {
    HealthCounts future;
    while (!minutes_.empty() && minutes_.back().minute >= minute) {
      future += minutes_.back().counts;
      minutes_.pop_back();
    }
    minutes_.push_back({minute, future});
  }
  if (minutes_.empty() || minutes_.back().minute < minute) {
    std::erase_if(minutes_, [&](const Minute& old) { return old.minute <= minute - kept_minutes; });
    minutes_.push_back({minute, {}});
  }
  return minutes_.back().counts;
}

void Health::launched(Time now) {
  ++at(now).tried;
}

void Health::failed(Time now, ErrorClass error_class) {
  ++at(now).tried;
  failed_later(now, error_class);
}

void Health::failed_later(Time now, ErrorClass error_class) {
  HealthCounts& counts = at(now);
  ++counts.failed;
  const auto index = static_cast<std::size_t>(error_class) - 1;
  ++counts.errors_by_class[std::min(index, counts.errors_by_class.size() - 1)];
}

void Health::registered(Time now) {
  ++at(now).registered;
}

void Health::claimed(Time now) {
  ++at(now).claimed;
}

HealthCounts Health::last_hour(Time now) const {
  HealthCounts sum;
  for (const Minute& minute : minutes_)
    if (minute.minute > minute_of(now) - kept_minutes &&
        minute.minute < minute_of(now) + kept_minutes)  // else of a clock that was wrong
      sum += minute.counts;
  return sum;
}

Time Health::next_change() const {
  if (minutes_.empty()) return Time::max();
  return Time(minutes(minutes_.front().minute + kept_minutes));
}

json::array Health::to_json() const {
  json::array written;
  for (const Minute& minute : minutes_) {
    json::array numbers{minute.minute, minute.counts.tried, minute.counts.failed,
                        minute.counts.registered, minute.counts.claimed};
    for (const std::int64_t errors : minute.counts.errors_by_class) numbers.emplace_back(errors);
    written.emplace_back(std::move(numbers));
  }
  return written;
}

Health Health::from_json(const json::array& written) {
  Health health;
  for (const json::value& entry : written) {
    Minute minute{};
    const auto* numbers = entry.if_array();
    if (!numbers || numbers->size() != 5 + minute.counts.errors_by_class.size()) continue;
    const auto number = [&](std::size_t i) {
      const json::value& value = (*numbers)[i];
      return value.is_int64() ? value.get_int64() : 0;
    };
    minute.minute = number(0);
    minute.counts = {number(1), number(2), number(3), number(4), {}};
    for (std::size_t i = 0; i < minute.counts.errors_by_class.size(); ++i)
      minute.counts.errors_by_class[i] = number(5 + i);
    if (health.minutes_.empty() || health.minutes_.back().minute < minute.minute)
      health.minutes_.push_back(minute);
  }
  return health;
}

}  // namespace muster::bidding
