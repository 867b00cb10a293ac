// What was found out about addresses, for as long as the DNS says that it holds, within bounds.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "lib/base/clock.hpp"
#include "relay/address_hash.hpp"
#include "relay/name_verification.hpp"

namespace muster::relay {

struct CacheSettings {
  std::size_t entries = 16'384;
  std::chrono::milliseconds min_ttl = std::chrono::seconds(5);
  std::chrono::milliseconds max_ttl = std::chrono::minutes(5);
  std::chrono::milliseconds negative_ttl = std::chrono::seconds(30);  // the most, of refusals
  friend bool operator==(const CacheSettings&, const CacheSettings&) = default;
};

// For how long a verdict is kept: its TTL between min_ttl and max_ttl; of a refusal between min_ttl
// and negative_ttl (or negative_ttl, if that is less than min_ttl); of a failure not at all.
std::chrono::milliseconds kept_for(const Verdict& verdict, const CacheSettings& settings);

// Of more entries than there may be, the one that was used longest ago goes. THREADS: any.
class VerdictCache {
 public:
  explicit VerdictCache(CacheSettings settings) : settings_(settings) {}

  std::shared_ptr<const Verdict> find(const Address& address, SteadyTime now);
  void put(const Address& address, std::shared_ptr<const Verdict> verdict, SteadyTime now);
  void clear();
  std::size_t size() const;

 private:
  struct Entry {
    Address address;
    std::shared_ptr<const Verdict> verdict;
    SteadyTime expires;
  };
  const CacheSettings settings_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // the one that was used last first
  std::unordered_map<Address, std::list<Entry>::iterator, AddressHash> places_;
};

}  // namespace muster::relay
