// How many bytes of requests' bodies may be in memory at once: of one peer, and of all together.
// Bytes are counted as they come, and given back when nobody holds the request any more.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "lib/http/peer_limits.hpp"

namespace muster::http {

struct BodyBudgetSettings {
  std::uint64_t of_all = 256 * 1024 * 1024;
  std::uint64_t of_peer = 64 * 1024 * 1024;  // this machine: see PeerSettings::loopback_too
};

// THREADS: any.
class BodyBudget {
 public:
  explicit BodyBudget(BodyBudgetSettings settings) : settings_(settings) {}

  const BodyBudgetSettings& settings() const { return settings_; }
  std::uint64_t used() const { return used_; }

 private:
  friend class BodyHold;
  const BodyBudgetSettings settings_;
  std::atomic<std::uint64_t> used_ = 0;
};

// What one body takes. THREADS: grow() one at a time; it may end on any.
class BodyHold {
 public:
  BodyHold(std::shared_ptr<BodyBudget> budget, std::shared_ptr<Peer> peer)
      : budget_(std::move(budget)), peer_(std::move(peer)) {}
  ~BodyHold();
  BodyHold(const BodyHold&) = delete;
  BodyHold& operator=(const BodyHold&) = delete;

  enum class Grown { yes, no_room_for_peer, no_room };
  // The body takes `bytes` now. If there is no room it is counted all the same: its owner gives it
  // up. Callers without credentials have half of the room at most, so that they cannot keep out the
  // others.
  Grown grow_to(std::uint64_t bytes, bool known_caller);

 private:
  const std::shared_ptr<BodyBudget> budget_;
  const std::shared_ptr<Peer> peer_;
  std::uint64_t bytes_ = 0;
};

}  // namespace muster::http
