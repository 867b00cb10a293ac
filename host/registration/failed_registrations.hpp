// Keeps machines that fail to register again and again from slowing down others: each failure takes
// a token from a bucket of its peer and from that of the worker it claims to be. A peer or worker
// whose bucket is empty has to wait before anything is done for it. Registrations that succeed cost
// nothing. Requests that cannot be read, and those that claim to be some worker, have buckets of
// their own: the second one keeps only workers waiting that the fleet does not have, because others
// behind the same address may be honest.
#pragma once

#include <chrono>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "lib/base/clock.hpp"
#include "lib/http/message.hpp"

namespace muster::registration {

struct BucketSettings {
  double burst;
  double per_second;
};

struct FailureLimits {
  // Many machines may be behind one address: a few that fail must not lock out the others.
  BucketSettings of_peer{100, 2};
  BucketSettings of_worker{10, 1.0 / 6};
  // A whole datacenter is behind a relay; its machines have buckets of their own.
  BucketSettings of_relay{1000, 50};
  std::size_t most_buckets = 100'000;
};

// THREADS: any.
class FailedRegistrations {
 public:
  explicit FailedRegistrations(FailureLimits limits = {}) : limits_(limits) {}

  // How long the peer, or the worker behind it, has to wait; nothing: not at all.
  std::optional<std::chrono::seconds> must_wait(const std::string& peer, SteadyTime now);
  std::optional<std::chrono::seconds> must_wait(const std::string& peer, const std::string& worker,
                                                SteadyTime now);
  void failed(const std::string& peer, const std::string& worker, SteadyTime now);

  // The same for those that claim to be a worker, at an address.
  std::optional<std::chrono::seconds> stranger_must_wait(const std::string& peer, SteadyTime now);
  void claim_failed(const std::string& peer, const std::string& worker, SteadyTime now);

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
  std::list<std::string> uses_;  // keys, the latest failure first
};

// The peer of a relay's bucket, whatever its address. No machine has the same.
std::string relay_key(const std::string& client_id);

// Where the machine is that sent it, also behind proxies that are trusted: "192.0.2.7"; empty if
// that is not known.
std::string address_of(const http::Request& request);

// The address itself, or of IPv6 its network, because a machine has all addresses of one; empty if
// the text is no address.
std::string network_of(const std::string& address);

}  // namespace muster::registration
