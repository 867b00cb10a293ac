#include "plugins/cloud/token_bucket.hpp"

#include <algorithm>
#include <cmath>

namespace muster::cloud {
namespace {

using namespace std::chrono_literals;

constexpr double few_left = 0.05;  // of a burst
constexpr auto one_burst = 1s;     // throttle answers within it are about the same calls

double seconds(std::chrono::milliseconds time) {
  return static_cast<double>(time.count()) / 1000;
}

}  // namespace

TokenBucket::TokenBucket(BucketSettings settings, Time now)
    : settings_(settings), rate_(settings.per_second), tokens_(settings.burst), last_(now) {}

void TokenBucket::advance(Time now) {
  const double passed = std::max(0.0, seconds(now - last_));
  last_ = now;
  tokens_ = std::min(settings_.burst, tokens_ + passed * rate_);
  const double growth = (settings_.per_second - settings_.least) / settings_.recovery;
  rate_ = std::min(settings_.per_second, rate_ + passed * growth);
}

std::chrono::milliseconds TokenBucket::take(Time now) {
  advance(now);
  tokens_ -= 1;
  if (tokens_ >= 0) return 0ms;
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(-tokens_ / rate_ * 1000)));
}

void TokenBucket::throttle(Time now) {
  advance(now);
  tokens_ = std::min(tokens_, 0.0);
  if (last_throttle_ != Time{} && now >= last_throttle_ && now - last_throttle_ < one_burst) return;
  last_throttle_ = now;
  rate_ = std::max(settings_.least, rate_ / 2);
}

void TokenBucket::limit(double remaining, Time now) {
  advance(now);
  if (remaining < settings_.burst * few_left) throttle(now);
  tokens_ = std::min(tokens_, std::max(0.0, remaining));
}

std::chrono::milliseconds TokenBuckets::take(const std::string& api, const BucketSettings& settings,
                                             Time now) {
  const std::lock_guard lock(mutex_);
  return buckets_.try_emplace(api, settings, now).first->second.take(now);
}

void TokenBuckets::give_back(const std::string& api) {
  const std::lock_guard lock(mutex_);
  buckets_.at(api).give_back();
}

void TokenBuckets::throttle(const std::string& api, Time now) {
  const std::lock_guard lock(mutex_);
  buckets_.at(api).throttle(now);
}

void TokenBuckets::limit(const std::string& api, double remaining, Time now) {
  const std::lock_guard lock(mutex_);
  buckets_.at(api).limit(remaining, now);
}

double TokenBuckets::rate(const std::string& api) const {
  const std::lock_guard lock(mutex_);
  return buckets_.at(api).rate();
}

}  // namespace muster::cloud
