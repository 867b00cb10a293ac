// Which clients have come in from which addresses. An address that is locked out may still use
// these. Private to this folder.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_set>

#include "lib/base/networks.hpp"

namespace muster::auth {

// Memory is bounded: of more pairs than `most`, those that came in longest ago are forgotten.
// THREADS: any.
class FamiliarSenders {
 public:
  explicit FamiliarSenders(std::size_t most = 65'536) : most_per_shard_(most / shards / 2 + 1) {}

  // A pair in place of an address, for a Lockout of pairs. Of an IPv6 address the /64 counts.
  static Address pair_of(const Address& sender, std::string_view client_id);

  void note(const Address& pair);
  bool knows(const Address& pair) const;
  std::size_t size() const;

 private:
  static constexpr std::size_t shards = 16;
  struct Hash {
    std::size_t operator()(const Address& pair) const;
  };
  // What is seen moves to `young`; when that is full, it becomes `old` and `old` is forgotten.
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_set<Address, Hash> young, old;
  };
  static std::size_t shard_of(const Address& pair) { return pair[15] % shards; }

  const std::size_t most_per_shard_;
  std::array<Shard, shards> shards_;
};

}  // namespace muster::auth
