#include "lib/http/peer_limits.hpp"

#include <algorithm>
#include <functional>
#include <string_view>

namespace muster::http {
namespace {

constexpr std::array<unsigned char, 12> v4_mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool is_v4(const PeerAddress& address) {
  return std::equal(v4_mapped.begin(), v4_mapped.end(), address.begin());
}

bool is_loopback(const PeerAddress& address) {
  if (is_v4(address)) return address[12] == 127;
  return address[15] == 1 && std::all_of(address.begin(), address.end() - 1,
                                         [](unsigned char byte) { return byte == 0; });
}

std::int64_t nanoseconds(SteadyTime time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

}  // namespace

// A bucket of `burst` that leaks evenly, kept as one number: when it will be empty.
std::chrono::nanoseconds Peer::charge(const PeerSettings& settings, SteadyTime time) {
  if (!limited_ || settings.requests_per_second == 0) return {};
  const std::int64_t now = nanoseconds(time);
  const std::int64_t each = 1'000'000'000 / settings.requests_per_second;
  const std::int64_t room = each * std::max(1u, settings.burst);
  std::int64_t was = full_at_.load(std::memory_order_relaxed);
  for (;;) {
    const std::int64_t next = std::max(was, now) + each;
    if (next - now > room) return std::chrono::nanoseconds(next - now - room);
    if (full_at_.compare_exchange_weak(was, next, std::memory_order_relaxed)) return {};
  }
}

bool Peer::is_rested(SteadyTime now) const {
  return full_at_.load(std::memory_order_relaxed) <= nanoseconds(now);
}

std::size_t PeerLimits::Hash::operator()(const PeerAddress& address) const {
  return std::hash<std::string_view>()(
      {reinterpret_cast<const char*>(address.data()), address.size()});
}

std::unique_ptr<Seat> PeerLimits::admit(const PeerAddress& address, SteadyTime now, bool trusted) {
  const std::lock_guard guard(mutex_);
  auto peer = find_locked(address, now);
  if (peer->limited_ && !trusted && settings_.max_connections > 0 &&
      peer->connections_ >= settings_.max_connections)
    return nullptr;
  ++peer->connections_;
  return std::make_unique<Seat>(std::move(peer));
}

std::shared_ptr<Peer> PeerLimits::find(const PeerAddress& address, SteadyTime now) {
  const std::lock_guard guard(mutex_);
  return find_locked(address, now);
}

std::shared_ptr<Peer> PeerLimits::find_locked(const PeerAddress& address, SteadyTime now) {
  PeerAddress key = address;
  if (!is_v4(address)) std::fill(key.begin() + 8, key.end(), 0);
  const bool limited = settings_.loopback_too || !is_loopback(address);
  // ::1 and ::2 share their first half, but only one of them is this machine.
  if (!limited) key[15] = 1;
  auto found = peers_.find(key);
  if (found == peers_.end()) {
    if (peers_.size() >= most_) make_room(now);
    found = peers_.emplace(key, std::make_shared<Peer>(limited)).first;
  }
  return found->second;
}

void PeerLimits::make_room(SteadyTime now) {
  const auto forget = [&](bool rested_only) {
    std::erase_if(peers_, [&](const auto& entry) {
      return entry.second->connections_ == 0 && entry.second->buffered_ == 0 &&
             (!rested_only || entry.second->is_rested(now));
    });
  };
  forget(true);
  if (peers_.size() >= most_) forget(false);
}

std::size_t PeerLimits::known() const {
  const std::lock_guard guard(mutex_);
  return peers_.size();
}

}  // namespace muster::http
