#include "host/auth/grant_cache.hpp"

namespace muster::auth {

Sha256 GrantCache::key_of(std::string_view client_id, std::string_view ext) {
  std::string text = std::to_string(client_id.size()) + ":";  // so that no two pairs look alike
  text.reserve(text.size() + client_id.size() + ext.size());
  text.append(client_id).append(ext);
  return sha256(text);
}

std::shared_ptr<const Grant> GrantCache::find(const Sha256& key) {
  Shard& shard = shard_of(key);
  const std::lock_guard guard(shard.mutex);
  const auto found = shard.places.find(key);
  if (found == shard.places.end()) return nullptr;
  shard.order.splice(shard.order.begin(), shard.order, found->second);
  return found->second->second;
}

void GrantCache::put(const Sha256& key, std::shared_ptr<const Grant> grant) {
  Shard& shard = shard_of(key);
  const std::lock_guard guard(shard.mutex);
  if (const auto found = shard.places.find(key); found != shard.places.end()) {
    found->second->second = std::move(grant);
    return;
  }
  shard.order.emplace_front(key, std::move(grant));
  shard.places[key] = shard.order.begin();
  if (shard.order.size() <= most_per_shard_) return;
  shard.places.erase(shard.order.back().first);
  shard.order.pop_back();
}

void GrantCache::erase(const Sha256& key) {
  Shard& shard = shard_of(key);
  const std::lock_guard guard(shard.mutex);
  const auto found = shard.places.find(key);
  if (found == shard.places.end()) return;
  shard.order.erase(found->second);
  shard.places.erase(found);
}

std::size_t GrantCache::size() const {
  std::size_t all = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard guard(shard.mutex);
    all += shard.order.size();
  }
  return all;
}

}  // namespace muster::auth
