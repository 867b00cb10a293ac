// How often an API may be called: a rate that falls when the cloud says that it is too much, and
// recovers slowly.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>

#include <muster/context.hpp>

namespace muster::cloud {

struct BucketSettings {
  double per_second = 20;  // calls, in the long run
  double burst = 100;      // calls at once, after a rest
  double least = 0.2;      // calls in a second, however often the cloud throttles
  double recovery = 120;   // seconds from the least rate to the full one without a throttle answer
};

// Pure: time is an argument. A clock that goes back earns nothing and costs nothing.
//
// THREADS: one at a time.
class TokenBucket {
 public:
  explicit TokenBucket(BucketSettings settings, Time now);

  // Takes one token, which may have to be waited for: the answer is how long.
  std::chrono::milliseconds take(Time now);
  // Gives back the token of a call that was not made.
  void give_back() { tokens_ += 1; }
  // The cloud answered "too much": the rate is halved and nothing is left. Answers that come
  // together count as one, or a burst of calls would end in the least rate at once.
  void throttle(Time now);
  // The cloud said how many calls it still takes: not more are made at once, and with few left the
  // rate is halved as if it had refused one.
  void limit(double remaining, Time now);

  double rate() const { return rate_; }

 private:
  void advance(Time now);

  BucketSettings settings_;
  double rate_, tokens_;
  Time last_, last_throttle_{};
};

// One bucket for each name, made when it is first used. THREADS: any.
class TokenBuckets {
 public:
  std::chrono::milliseconds take(const std::string& api, const BucketSettings& settings, Time now);
  // Of a bucket that was taken from.
  void give_back(const std::string& api);
  void throttle(const std::string& api, Time now);
  void limit(const std::string& api, double remaining, Time now);
  double rate(const std::string& api) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, TokenBucket> buckets_;
};

}  // namespace muster::cloud
