#include "host/auth/familiar_senders.hpp"

#include <cstring>
#include <string>
#include <utility>

namespace muster::auth {

// In the first half, which is all that counts of an address that is not IPv4's.
Address FamiliarSenders::pair_of(const Address& sender, std::string_view client_id) {
  const Address counted = counted_as(sender);
  std::string text(reinterpret_cast<const char*>(counted.data()), counted.size());
  text.append(client_id);
  const std::uint64_t hash = std::hash<std::string>()(text);
  Address pair{};
  std::memcpy(pair.data(), &hash, sizeof hash);
  pair[15] = pair[7];
  return pair;
}

std::size_t FamiliarSenders::Hash::operator()(const Address& pair) const {
  std::size_t hash;
  std::memcpy(&hash, pair.data(), sizeof hash);
  return hash;
}

void FamiliarSenders::note(const Address& pair) {
  Shard& shard = shards_[shard_of(pair)];
  const std::lock_guard guard(shard.mutex);
  if (!shard.young.insert(pair).second || shard.young.size() < most_per_shard_) return;
  shard.old = std::exchange(shard.young, {});
}

bool FamiliarSenders::knows(const Address& pair) const {
  const Shard& shard = shards_[shard_of(pair)];
  const std::lock_guard guard(shard.mutex);
  return shard.young.contains(pair) || shard.old.contains(pair);
}

std::size_t FamiliarSenders::size() const {
  std::size_t all = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard guard(shard.mutex);
    all += shard.young.size() + shard.old.size();
  }
  return all;
}

}  // namespace muster::auth
