#include "host/fleet/allocation/throttle.hpp"

#include <algorithm>
#include <cmath>

namespace muster::allocation {

namespace {

// A bucket that holds no whole launch would let nobody through, ever.
ThrottleSettings sensible(ThrottleSettings settings) {
  constexpr double slowest = 1.0 / 3600;
  if (!(settings.launches_per_second >= slowest)) settings.launches_per_second = slowest;
  if (!(settings.burst >= 1)) settings.burst = 1;
  settings.calls_at_once = std::max<std::int64_t>(settings.calls_at_once, 1);
  return settings;
}

}  // namespace

Throttle::Throttle(ThrottleSettings settings)
    : settings_(sensible(settings)),
      rate_(settings_.launches_per_second),
      tokens_(settings_.burst) {}

void Throttle::change(ThrottleSettings settings) {
  const std::int64_t calls = calls_;
  *this = Throttle(settings);
  calls_ = calls;
}

// A clock that was set back refills nothing until it has caught up, and starts anew from there.
void Throttle::refill(Time now) {
  if (refilled_ == Time{} || now < refilled_) refilled_ = now;
  const double seconds = std::chrono::duration<double>(now - refilled_).count();
  tokens_ = std::min(settings_.burst, tokens_ + seconds * rate_);
  refilled_ = now;
}

// What a call is worth being made for.
std::int64_t Throttle::least(std::int64_t wanted) const {
  constexpr double seconds_waited = 2;
  const double enough = std::min(rate_ * seconds_waited, settings_.burst);
  return std::clamp<std::int64_t>(wanted, 1,
                                  std::max<std::int64_t>(1, static_cast<std::int64_t>(enough)));
}

std::int64_t Throttle::room(Time now, std::int64_t wanted) {
  refill(now);
  if (calls_ >= settings_.calls_at_once) return 0;
  const auto room = static_cast<std::int64_t>(std::floor(tokens_ + 1e-9));
  return room < least(wanted) ? 0 : room;
}

void Throttle::begin(std::int64_t launches) {
  ++calls_;
  tokens_ -= static_cast<double>(launches);
}

void Throttle::ended(bool too_fast) {
  --calls_;
  const double full = settings_.launches_per_second;
  if (too_fast) {
    rate_ = std::max(rate_ / 2, full / 64);
    tokens_ = std::min(tokens_, 0.0);
  } else {
    rate_ = std::min(full, rate_ + full / 10);
  }
}

Time Throttle::next(Time now, std::int64_t wanted) const {
  if (calls_ >= settings_.calls_at_once) return Time::max();
  const double missing = std::max(0.0, static_cast<double>(least(wanted)) - tokens_);
  return now + std::chrono::milliseconds(
                   static_cast<std::int64_t>(std::ceil(missing / rate_ * 1000)) + 1);
}

}  // namespace muster::allocation
