// Requests that were not let in, counted by reason: what an operator alerts on without a line of
// the log for each.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace muster::auth {

// THREADS: any.
class Refusals {
 public:
  enum class Reason { credentials, scopes, lockout };
  static constexpr std::string_view names[] = {"credentials", "scopes", "lockout"};

  void count(Reason reason) { counts_[static_cast<int>(reason)].fetch_add(1, relaxed); }
  std::uint64_t of(Reason reason) const { return counts_[static_cast<int>(reason)].load(relaxed); }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;
  std::atomic<std::uint64_t> counts_[std::size(names)] = {};
};

}  // namespace muster::auth
