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

// Only for grants whose holder has shown that it has the key: a stranger can put nothing here. The
// least recently used ones are forgotten when all take more than `most_bytes`. THREADS: any; two
// lanes rarely meet in a shard.
class GrantCache {
 public:
  explicit GrantCache(std::size_t most_bytes) : most_bytes_per_shard_(most_bytes / shards + 1) {}

  // SHA-256 of the client id and `ext`.
  static Sha256 key_of(std::string_view client_id, std::string_view ext);

  std::shared_ptr<const Grant> find(const Sha256& key);
  void put(const Sha256& key, std::shared_ptr<const Grant> grant);
  void erase(const Sha256& key);
  std::size_t size() const;
  std::size_t bytes() const;  // about

 private:
  static constexpr std::size_t shards = 16;
  struct Hash {
    std::size_t operator()(const Sha256& key) const {
      std::size_t part;
      std::memcpy(&part, key.data(), sizeof part);
      return part;
    }
  };
  struct Entry {
    Sha256 key;
    std::shared_ptr<const Grant> grant;
    std::size_t bytes;
  };
  using Order = std::list<Entry>;  // newest first
  struct Shard {
    mutable std::mutex mutex;
    Order order;
    std::size_t bytes = 0;
    std::unordered_map<Sha256, Order::iterator, Hash> places;
  };
  Shard& shard_of(const Sha256& key) { return shards_[key.back() % shards]; }
  static void drop(Shard& shard, Order::iterator entry);

  std::size_t most_bytes_per_shard_;
  std::array<Shard, shards> shards_;
};

}  // namespace muster::auth
