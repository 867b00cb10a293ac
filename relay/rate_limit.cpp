#include "relay/rate_limit.hpp"

#include <algorithm>
#include <vector>

namespace muster::relay {

std::chrono::nanoseconds RateLimit::charge(const Address& address, const RateSettings& settings,
                                           SteadyTime now) {
  const std::chrono::nanoseconds each =
      std::chrono::nanoseconds(std::chrono::minutes(1)) / settings.per_minute;
  const std::lock_guard guard(mutex_);
  const auto found = full_at_.find(address);
  const SteadyTime begin = found == full_at_.end() ? now : std::max(found->second, now);
  const SteadyTime full_at = begin + each;
  if (const auto excess = full_at - now - each * settings.burst; excess.count() > 0) return excess;
  if (found != full_at_.end()) {
    found->second = full_at;
  } else {
    if (full_at_.size() >= most_) make_room(now);
    full_at_.emplace(address, full_at);
  }
  return {};
}

// At least an eighth, so that it is not done for each of many strangers.
void RateLimit::make_room(SteadyTime now) {
  std::erase_if(full_at_, [&](const auto& entry) { return entry.second <= now; });
  if (full_at_.size() <= most_ - most_ / 8 && full_at_.size() < most_) return;
  std::vector<SteadyTime> times;
  times.reserve(full_at_.size());
  for (const auto& [address, time] : full_at_) times.push_back(time);
  const auto bound = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 8);
  std::nth_element(times.begin(), bound, times.end());
  std::erase_if(full_at_, [&](const auto& entry) { return entry.second <= *bound; });
}

std::size_t RateLimit::known() const {
  const std::lock_guard guard(mutex_);
  return full_at_.size();
}

}  // namespace muster::relay
