// Keeps machines that register wrongly, again and again, from costing others: each failure takes a
// token from the bucket of its peer, and from that of the worker it claims to be. A peer or worker
// whose bucket is empty is told to wait before anything is done for it. Registrations that succeed
// cost nothing.
#pragma once

#include <chrono>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "lib/base/clock.hpp"

namespace muster::taskcluster_api {

struct BucketSettings {
  double burst;
  double per_second;
};

struct FailureLimits {
  // Many machines may stand behind one address: a few that fail must not lock out the others.
  BucketSettings of_peer{100, 2};
  BucketSettings of_worker{10, 1.0 / 6};
  // A whole datacenter stands behind a relay; its machines have buckets of their own.
  BucketSettings of_relay{1000, 50};
  std::size_t most_buckets = 100'000;
};

// THREADS: any.
class FailedRegistrations {
 public:
  explicit FailedRegistrations(FailureLimits limits = {}) : limits_(limits) {}

  // How long whoever it is has to wait; nothing: not at all.
  std::optional<std::chrono::seconds> must_wait(const std::string& peer, SteadyTime now);
  std::optional<std::chrono::seconds> must_wait(const std::string& peer, const std::string& worker,
                                                SteadyTime now);
  void failed(const std::string& peer, const std::string& worker, SteadyTime now);

  std::size_t size() const;

 private:
  struct Bucket {
    double tokens;
    SteadyTime at;
    std::list<std::string>::iterator use;
  };

  const BucketSettings& settings_of(const std::string& peer) const;
  Bucket* find(const std::string& key, const BucketSettings& settings, SteadyTime now);
  void take(const std::string& key, const BucketSettings& settings, SteadyTime now);
  static std::optional<std::chrono::seconds> wait(const Bucket* bucket,
                                                  const BucketSettings& settings);

  const FailureLimits limits_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_;
  std::list<std::string> uses_;  // keys, the one that failed last in front
};

// The peer that a relay is, whatever its address: nobody else has that bucket.
std::string relay_key(const std::string& client_id);

// "192.0.2.7" of "192.0.2.7:4711"; of an IPv6 address its network, for a machine has all of one.
std::string address_of(const std::string& peer);

}  // namespace muster::taskcluster_api
