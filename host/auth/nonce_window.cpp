#include "host/auth/nonce_window.hpp"

#include <algorithm>
#include <iterator>

namespace muster::auth {
namespace {
constexpr std::size_t longest_kept = 64;
// Beyond the time at which a request is refused as too old anyway: a clock that is set back by less
// makes no request valid again.
constexpr std::int64_t remembered = 24 * 3600;
}  // namespace

NonceWindows::Seen NonceWindows::see(const std::string& client_id, std::int64_t ts,
                                     std::string_view nonce, std::int64_t now, std::int64_t skew,
                                     std::size_t most) {
  // A longer one would only fill the memory; nobody's nonces are equal in their first 64
  // characters.
  std::string kept(nonce.substr(0, longest_kept));
  const std::lock_guard guard(mutex_);
  Window& window = windows_[client_id];
  auto& nonces = window.nonces;
  const auto kept_from = nonces.lower_bound({now - skew - remembered, {}});
  if (kept_from != nonces.begin())
    window.floor = std::max(window.floor, std::prev(kept_from)->first);
  nonces.erase(nonces.begin(), kept_from);
  if (ts <= std::max(window.floor, times_.before_start(client_id))) return Seen::too_old;
  if (!nonces.emplace(ts, std::move(kept)).second) return Seen::again;
  times_.note(client_id, ts);
  if (nonces.size() > most) {
    window.floor = std::max(window.floor, nonces.begin()->first);
    nonces.erase(nonces.begin(),
                 nonces.upper_bound({window.floor, std::string(longest_kept, '\x7f')}));
  }
  return Seen::first;
}

}  // namespace muster::auth
