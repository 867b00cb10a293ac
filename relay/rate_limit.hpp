// How often one address may ask. Each has a bucket that fills at an even rate; it is kept as one
// number, the time at which it will be full again.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "lib/base/clock.hpp"
#include "relay/address_hash.hpp"

namespace muster::relay {

struct RateSettings {
  std::uint32_t per_minute = 12;
  std::uint32_t burst = 6;  // that may come at once after a pause
  friend bool operator==(const RateSettings&, const RateSettings&) = default;
};

// Memory is bounded: of more than `most` addresses those whose buckets are nearly full are
// forgotten first. THREADS: any.
class RateLimit {
 public:
  explicit RateLimit(std::size_t most = 65'536) : most_(most) {}

  // Zero: the request was counted and may go on. Else how long to wait.
  std::chrono::nanoseconds charge(const Address& address, const RateSettings& settings,
                                  SteadyTime now);
  std::size_t known() const;

 private:
  void make_room(SteadyTime now);

  const std::size_t most_;
  mutable std::mutex mutex_;
  std::unordered_map<Address, SteadyTime, AddressHash> full_at_;
};

}  // namespace muster::relay
