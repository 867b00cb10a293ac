// How much one peer may have: connections at once, and requests in a second. Peers are told apart
// by address; of IPv6 the first 64 bits count, because the owner of one address usually has all of
// those.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "lib/base/clock.hpp"

namespace muster::http {

struct PeerSettings {
  std::uint32_t max_connections = 1024;       // 0: no limit
  std::uint32_t requests_per_second = 5'000;  // 0: no limit
  std::uint32_t burst = 10'000;               // requests that may come at once after a pause
  bool loopback_too = false;                  // else this machine is not limited
};

// 16 bytes as IPv6 has them; IPv4 mapped.
using PeerAddress = std::array<unsigned char, 16>;

// One peer. THREADS: any.
class Peer {
 public:
  explicit Peer(bool limited) : limited_(limited) {}

  // Zero: this request may go on, and was counted. Else the time after which it may.
  std::chrono::nanoseconds charge(const PeerSettings& settings, SteadyTime now);
  // Whether it would not matter if it were forgotten.
  bool is_rested(SteadyTime now) const;

 private:
  friend class BodyHold;
  friend class PeerLimits;
  friend class Seat;
  const bool limited_;
  std::atomic<std::uint32_t> connections_ = 0;
  std::atomic<std::uint64_t> buffered_ = 0;  // bytes of bodies
  // When the bucket is full again, in nanoseconds of the steady clock.
  std::atomic<std::int64_t> full_at_ = 0;
};

// One connection of a peer; gives its place back.
class Seat {
 public:
  explicit Seat(std::shared_ptr<Peer> peer) : peer_(std::move(peer)) {}
  ~Seat() { --peer_->connections_; }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;
  const std::shared_ptr<Peer>& peer() const { return peer_; }

 private:
  std::shared_ptr<Peer> peer_;
};

// THREADS: any. Remembers no more than `most` peers, those with connections included; those that
// have been quiet are forgotten first.
class PeerLimits {
 public:
  PeerLimits(PeerSettings settings, std::size_t most) : settings_(settings), most_(most) {}

  // Nothing: the peer has as many connections as it may. A trusted proxy's connections are those of
  // its clients, so they are not limited.
  std::unique_ptr<Seat> admit(const PeerAddress& address, SteadyTime now, bool trusted = false);
  // Whose requests come through the connection of another.
  std::shared_ptr<Peer> find(const PeerAddress& address, SteadyTime now);
  const PeerSettings& settings() const { return settings_; }
  std::size_t known() const;

 private:
  struct Hash {
    std::size_t operator()(const PeerAddress& address) const;
  };
  std::shared_ptr<Peer> find_locked(const PeerAddress& address, SteadyTime now);
  void make_room(SteadyTime now);

  const PeerSettings settings_;
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::unordered_map<PeerAddress, std::shared_ptr<Peer>, Hash> peers_;
};

}  // namespace muster::http
