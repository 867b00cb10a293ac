// Which requests were seen already, for clients that never send one twice. Private to this folder.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>

#include "host/auth/seen_times.hpp"

namespace muster::auth {

// Memory is bounded: when a client has more requests than fit, its oldest second is forgotten and
// no request of that time is taken any more, so that forgetting never lets a replay in. THREADS:
// any.
class NonceWindows {
 public:
  enum class Seen { first, again, too_old };

  // See SeenTimes. Before the first see().
  Result<void> keep_times(const std::filesystem::path& file, std::int64_t now) {
    return times_.open(file, now);
  }

  // `ts` is within `skew` of `now` (seconds). What is a day older is forgotten, and no request of
  // that time is taken any more.
  Seen see(const std::string& client_id, std::int64_t ts, std::string_view nonce, std::int64_t now,
           std::int64_t skew, std::size_t most);

 private:
  struct Window {
    std::set<std::pair<std::int64_t, std::string>> nonces;
    std::int64_t floor = INT64_MIN;  // of times up to this nothing is known any more
  };
  std::mutex mutex_;
  SeenTimes times_;
  std::unordered_map<std::string, Window> windows_;  // as many as clients with this protection
};

}  // namespace muster::auth
