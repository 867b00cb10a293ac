#include "host/registration/failed_registrations.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cmath>

namespace muster::registration {
namespace {

constexpr std::string_view of_relays = "relay ";  // no address begins like this

std::string of_worker_key(const std::string& peer, const std::string& worker) {
  return peer + "\n" + worker;
}

// No worker has an empty name.
std::string of_claims_key(const std::string& peer) {
  return of_worker_key(peer, "");
}

}  // namespace

const BucketSettings& FailedRegistrations::settings_of(const std::string& peer) const {
  return peer.starts_with(of_relays) ? limits_.of_relay : limits_.of_peer;
}

// A full bucket means the same as none.
FailedRegistrations::Bucket* FailedRegistrations::find(const std::string& key,
                                                       const BucketSettings& settings,
                                                       SteadyTime now) {
  const auto found = buckets_.find(key);
  if (found == buckets_.end()) return nullptr;
  Bucket& bucket = found->second;
  const std::chrono::duration<double> passed = std::max(now - bucket.at, SteadyTime::duration(0));
  bucket.tokens = std::min(settings.burst, bucket.tokens + passed.count() * settings.per_second);
  bucket.at = std::max(now, bucket.at);
  if (bucket.tokens < settings.burst) return &bucket;
  uses_.erase(bucket.use);
  buckets_.erase(found);
  return nullptr;
}

void FailedRegistrations::take(const std::string& key, const BucketSettings& settings,
                               SteadyTime now) {
  Bucket* bucket = find(key, settings, now);
  if (!bucket) {
    if (buckets_.size() >= limits_.most_buckets) {
      buckets_.erase(uses_.back());
      uses_.pop_back();
    }
    uses_.push_front(key);
    bucket = &buckets_.emplace(key, Bucket{settings.burst, now, uses_.begin()}).first->second;
  }
  uses_.splice(uses_.begin(), uses_, bucket->use);
  bucket->tokens = std::max(0.0, bucket->tokens - 1);
}

std::optional<std::chrono::seconds> FailedRegistrations::wait(const Bucket* bucket,
                                                              const BucketSettings& settings) {
  if (!bucket || bucket->tokens >= 1) return std::nullopt;
  const double seconds = std::ceil((1 - bucket->tokens) / settings.per_second);
  return std::chrono::seconds(static_cast<std::int64_t>(std::max(1.0, seconds)));
}

std::optional<std::chrono::seconds> FailedRegistrations::must_wait(const std::string& peer,
                                                                   SteadyTime now) {
  const std::lock_guard lock(mutex_);
  const BucketSettings& settings = settings_of(peer);
  return wait(find(peer, settings, now), settings);
}

std::optional<std::chrono::seconds> FailedRegistrations::must_wait(const std::string& peer,
                                                                   const std::string& worker,
                                                                   SteadyTime now) {
  const std::lock_guard lock(mutex_);
  return wait(find(of_worker_key(peer, worker), limits_.of_worker, now), limits_.of_worker);
}

void FailedRegistrations::failed(const std::string& peer, const std::string& worker,
                                 SteadyTime now) {
  const std::lock_guard lock(mutex_);
  take(peer, settings_of(peer), now);
  if (!worker.empty()) take(of_worker_key(peer, worker), limits_.of_worker, now);
}

std::optional<std::chrono::seconds> FailedRegistrations::stranger_must_wait(const std::string& peer,
                                                                            SteadyTime now) {
  const std::lock_guard lock(mutex_);
  return wait(find(of_claims_key(peer), limits_.of_peer, now), limits_.of_peer);
}

void FailedRegistrations::claim_failed(const std::string& peer, const std::string& worker,
                                       SteadyTime now) {
  const std::lock_guard lock(mutex_);
  take(of_claims_key(peer), limits_.of_peer, now);
  if (!worker.empty()) take(of_worker_key(peer, worker), limits_.of_worker, now);
}

std::size_t FailedRegistrations::size() const {
  const std::lock_guard lock(mutex_);
  return buckets_.size();
}

std::string relay_key(const std::string& client_id) {
  return std::string(of_relays) + client_id;
}

std::string address_of(const http::Request& request) {
  const auto client = request.client_address();
  return client ? muster::to_string(*client) : std::string();
}

std::string network_of(const std::string& address) {
  std::array<unsigned char, 16> bytes{};
  if (::inet_pton(AF_INET, address.c_str(), bytes.data()) == 1) return address;
  if (::inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return {};
  std::fill(bytes.begin() + 8, bytes.end(), 0);
  std::array<char, INET6_ADDRSTRLEN> network{};
  ::inet_ntop(AF_INET6, bytes.data(), network.data(), network.size());
  return network.data();
}

}  // namespace muster::registration
