#include "host/auth/lockout.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace muster::auth {

std::size_t Lockout::Hash::operator()(const Address& address) const {
  return std::hash<std::string_view>()(
      {reinterpret_cast<const char*>(address.data()), address.size()});
}

std::optional<std::chrono::milliseconds> Lockout::left(const Address& peer, SteadyTime now) const {
  const Address counted = counted_as(peer);
  const Shard& shard = shards_[Hash()(counted) % shards];
  const std::lock_guard guard(shard.mutex);
  const auto found = shard.peers.find(counted);
  if (found == shard.peers.end() || found->second.locked_until <= now) return std::nullopt;
  return std::chrono::ceil<std::chrono::milliseconds>(found->second.locked_until - now);
}

bool Lockout::failed(const Address& peer, SteadyTime now, const LockoutSettings& settings) {
  if (settings.failures == 0) return false;
  const Address counted = counted_as(peer);
  Shard& shard = shards_[Hash()(counted) % shards];
  const std::lock_guard guard(shard.mutex);
  if (shard.peers.size() >= most_per_shard_ && !shard.peers.contains(counted))
    make_room(shard, now, settings);
  Failures& failures = shard.peers.try_emplace(counted, Failures{now, now}).first->second;
  if (now - failures.window_began > settings.window) {
    failures.window_began = now;
    failures.count = 0;
  }
  failures.last = now;
  if (++failures.count >= settings.failures) failures.locked_until = now + settings.duration;
  return failures.locked_until > now;
}

std::size_t Lockout::size() const {
  std::size_t all = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard guard(shard.mutex);
    all += shard.peers.size();
  }
  return all;
}

// First what matters no more, and if much is left the older half: rarely, so that a flood of
// addresses pays little for it.
void Lockout::make_room(Shard& shard, SteadyTime now, const LockoutSettings& settings) {
  const std::size_t before = shard.peers.size();
  std::erase_if(shard.peers, [&](const auto& peer) {
    return peer.second.locked_until <= now && now - peer.second.window_began > settings.window;
  });
  if (shard.peers.size() <= before / 2) return;
  std::vector<SteadyTime> times;
  for (const auto& [address, failures] : shard.peers) times.push_back(failures.last);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  std::size_t left = times.size() / 2 + 1;  // many may have failed at the same time
  std::erase_if(shard.peers, [&, bound = *middle](const auto& peer) {
    if (peer.second.last > bound || left == 0) return false;
    --left;
    return true;
  });
}

}  // namespace muster::auth
