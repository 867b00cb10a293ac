// Whether a request comes in time, and for the first time. Private to this folder.
#pragma once

#include <optional>
#include <string_view>

#include <muster/error.hpp>

#include "host/auth/client.hpp"
#include "host/auth/nonce_window.hpp"
#include "lib/base/time_watch.hpp"
#include "lib/hawk/hawk.hpp"

namespace muster::auth {

// Seconds since 1970, as they are in a header; nothing: no number, or far from any time.
std::optional<std::int64_t> seconds_of(std::string_view text);

class RequestTimes {
 public:
  // Without a watch everything is judged by `now`.
  RequestTimes(Time now, TimeWatch* watch, NonceWindows& nonces, std::size_t most_nonces)
      : now_(now), watch_(watch), nonces_(nonces), most_nonces_(most_nonces) {}

  // Calls `check` with now; if that fails, with the last moments before the host did not run or its
  // clock was set. If all refuse, the refusal of now is returned.
  template <class Check>
  auto at_a_good_moment(const Check& check) const {
    auto outcome = check(now_);
    if (outcome || !watch_) return outcome;
    for (const Time moment : watch_->last_moments())
      if (auto then = check(moment)) return then;
    return outcome;
  }

  // Also with the latest time that the host has seen, if its clock was set back behind that: what
  // began before that began.
  template <class Check>
  auto at_a_time_that_was(const Check& check) const {
    auto outcome = at_a_good_moment(check);
    if (outcome || !watch_) return outcome;
    if (const auto latest = watch_->latest_ahead())
      if (auto then = check(*latest)) return then;
    return outcome;
  }

  // The time and the nonce of a request that this key has signed.
  Result<void> check(const Client& issuer, const Client::Key& key,
                     const hawk::Attributes& attributes) const;

 private:
  Error stale(const Client::Key& key) const;

  Time now_;
  TimeWatch* watch_;
  NonceWindows& nonces_;
  std::size_t most_nonces_;
};

}  // namespace muster::auth
