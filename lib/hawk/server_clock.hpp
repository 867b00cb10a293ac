// What a client knows about its server's clock. A signature carries the time, and a server refuses
// one that is too far from its own; a client whose clock is wrong learns the server's time from
// the refusal and signs again.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string_view>

#include <muster/context.hpp>

#include "lib/base/secret.hpp"

namespace muster::hawk {

// THREADS: any.
class ServerClock {
 public:
  // How far the server is ahead of us, as far as it is known.
  std::chrono::milliseconds offset() const { return offset_; }
  Time time(Time now) const { return now + offset(); }

  // The Date header of an answer. It has whole seconds, so less than 2 s is no difference.
  void observe(Time date, Time now);
  // The WWW-Authenticate header of a refusal, which may hold the server's time, signed with our
  // key. False if it does not.
  bool observe_challenge(std::string_view www_authenticate, const Secret& key, Time now);

  // Whether a request that was signed with the offset `used` may have been refused for its time, by
  // what is known since then: then it is worth a second try.
  bool explains_refusal(std::chrono::milliseconds used) const;

 private:
  std::atomic<std::chrono::milliseconds> offset_{std::chrono::milliseconds(0)};
};

// "Sun, 06 Nov 1994 08:49:37 GMT", the only form that servers send. Nothing for all others.
std::optional<Time> parse_http_date(std::string_view text);

}  // namespace muster::hawk
