// Verified grants by what they were made from, so that a worker's second request costs one HMAC and
// no JSON. Private to this folder.
#pragma once

#include <array>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "host/auth/grant.hpp"

namespace muster::auth {

// The least recently used ones are forgotten. THREADS: any; two lanes rarely meet in a shard.
class GrantCache {
 public:
  explicit GrantCache(std::size_t most) : most_per_shard_(most / shards + 1) {}

  // SHA-256 of the client id and `ext`.
  static Sha256 key_of(std::string_view client_id, std::string_view ext);

  std::shared_ptr<const Grant> find(const Sha256& key);
  void put(const Sha256& key, std::shared_ptr<const Grant> grant);
  void erase(const Sha256& key);
  std::size_t size() const;

 private:
  static constexpr std::size_t shards = 16;
  struct Hash {
    std::size_t operator()(const Sha256& key) const {
      std::size_t part;
      std::memcpy(&part, key.data(), sizeof part);
      return part;
    }
  };
  using Order = std::list<std::pair<Sha256, std::shared_ptr<const Grant>>>;  // newest first
  struct Shard {
    mutable std::mutex mutex;
    Order order;
    std::unordered_map<Sha256, Order::iterator, Hash> places;
  };
  Shard& shard_of(const Sha256& key) { return shards_[key.back() % shards]; }

  std::size_t most_per_shard_;
  std::array<Shard, shards> shards_;
};

}  // namespace muster::auth
