#include "host/auth/grant_cache.hpp"

#include <iterator>

namespace muster::auth {
namespace {

// What a grant takes, with what it costs to find it.
std::size_t bytes_of(const Grant& grant) {
  constexpr std::size_t fixed = 512, of_each = 64;
  std::size_t bytes = fixed + grant.caller->client_id.size();
  for (const std::string& scope : grant.caller->scopes.list()) bytes += of_each + scope.size();
  return bytes + of_each * grant.keys.size();
}

}  // namespace

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
  return found->second->grant;
}

void GrantCache::drop(Shard& shard, Order::iterator entry) {
  shard.bytes -= entry->bytes;
  shard.places.erase(entry->key);
  shard.order.erase(entry);
}

void GrantCache::put(const Sha256& key, std::shared_ptr<const Grant> grant) {
  const std::size_t bytes = bytes_of(*grant);
  Shard& shard = shard_of(key);
  const std::lock_guard guard(shard.mutex);
  if (const auto found = shard.places.find(key); found != shard.places.end())
    drop(shard, found->second);
  shard.order.push_front({key, std::move(grant), bytes});
  shard.places[key] = shard.order.begin();
  shard.bytes += bytes;
  while (shard.bytes > most_bytes_per_shard_) drop(shard, std::prev(shard.order.end()));
}

void GrantCache::erase(const Sha256& key) {
  Shard& shard = shard_of(key);
  const std::lock_guard guard(shard.mutex);
  const auto found = shard.places.find(key);
  if (found != shard.places.end()) drop(shard, found->second);
}

std::size_t GrantCache::size() const {
  std::size_t all = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard guard(shard.mutex);
    all += shard.order.size();
  }
  return all;
}

std::size_t GrantCache::bytes() const {
  std::size_t all = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard guard(shard.mutex);
    all += shard.bytes;
  }
  return all;
}

}  // namespace muster::auth
