// Peers that guess credentials: one that failed too often is locked out for a while. Others are not
// affected.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "lib/base/clock.hpp"
#include "lib/base/networks.hpp"

namespace muster::auth {

struct LockoutSettings {
  std::uint32_t failures = 20;  // so many ... 0: nobody is locked out
  std::chrono::milliseconds window = std::chrono::minutes(1);    // ... in so long a time ...
  std::chrono::milliseconds duration = std::chrono::minutes(1);  // ... lock a peer out for this
  friend bool operator==(const LockoutSettings&, const LockoutSettings&) = default;
};

// Memory is bounded: of more peers than `most_peers`, those that failed longest ago are forgotten.
// THREADS: any.
class Lockout {
 public:
  explicit Lockout(std::size_t most_peers = 65'536) : most_per_shard_(most_peers / shards + 1) {}

  // For how much longer the peer is locked out; nothing if it is not. Of an IPv6 address the /64
  // counts.
  std::optional<std::chrono::milliseconds> left(const Address& peer, SteadyTime now) const;
  // A failure, from now on for `duration` if it was one too many. True: it is locked out now.
  bool failed(const Address& peer, SteadyTime now, const LockoutSettings& settings);

  std::size_t size() const;  // peers that are remembered

 private:
  static constexpr std::size_t shards = 16;
  struct Failures {
    SteadyTime window_began, last, locked_until{};
    std::uint32_t count = 0;
  };
  struct Hash {
    std::size_t operator()(const Address& address) const;
  };
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<Address, Failures, Hash> peers;
  };
  static void make_room(Shard& shard, SteadyTime now, const LockoutSettings& settings);

  std::size_t most_per_shard_;
  std::array<Shard, shards> shards_;
};

}  // namespace muster::auth
