#include "host/auth/request_times.hpp"

#include <charconv>

namespace muster::auth {

std::optional<std::int64_t> seconds_of(std::string_view text) {
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  // Far from any overflow when it is turned into milliseconds.
  if (seconds < 0 || seconds > 100'000'000'000) return std::nullopt;
  return seconds;
}

namespace {

std::int64_t seconds_of(Time time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

}  // namespace

Error RequestTimes::stale(const Client::Key& key) const {
  return Error::auth("Unauthorized: Stale timestamp")
      .with_code(hawk::time_challenge(seconds_of(now_), key.secret));
}

Result<void> RequestTimes::check(const Client& issuer, const Client::Key& key,
                                 const hawk::Attributes& attributes) const {
  const auto seconds = seconds_of(std::string_view(attributes.ts));
  const auto near = [&](Time moment) -> Result<void> {
    const auto skew = std::chrono::seconds(hawk::max_skew_seconds);
    if (seconds && std::chrono::abs(Time(std::chrono::seconds(*seconds)) - moment) <= skew)
      return {};
    return stale(key);
  };
  if (!issuer.replay_protection) return at_a_good_moment(near);
  // What was seen at earlier moments may be forgotten: these are judged by now alone.
  if (const auto in_time = near(now_); !in_time || issuer.client_id != attributes.id)
    return in_time;
  switch (nonces_.see(issuer.client_id, *seconds, attributes.nonce, seconds_of(now_),
                      hawk::max_skew_seconds, most_nonces_)) {
    case NonceWindows::Seen::first:
      return {};
    case NonceWindows::Seen::again:
      return Error::auth("Unauthorized: Invalid nonce");
    case NonceWindows::Seen::too_old:
      break;
  }
  return stale(key);
}

}  // namespace muster::auth
