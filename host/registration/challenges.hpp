// Texts for machines to sign. Each is for one worker of one pool at one provider, is valid for two
// minutes and is accepted once, so that a signature is worthless to anyone who overhears it.
#pragma once

#include <chrono>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

#include "host/registration/claim.hpp"
#include "lib/base/secret.hpp"

namespace muster::registration {

inline constexpr std::chrono::seconds challenge_lifetime{120};

struct Challenge {
  std::string text;
  Time expires{};
};

// Nothing is stored for a challenge until it comes back: a code in it shows that it was made here.
// The key of that code is made with this object, so challenges of an earlier process are refused.
// THREADS: any.
class Challenges {
 public:
  // `host` is what the text calls this host. `most_used` used challenges are remembered; when there
  // are more, older ones are refused, so that none is ever accepted twice.
  explicit Challenges(std::string host, std::size_t most_used = 100'000);

  Challenge make(const Claim& claim, Time now) const;

  // Whether the text is a challenge of this object for exactly that claim, in time and for the
  // first time; from then on it is used. The error says what is wrong.
  Result<void> take(std::string_view text, const Claim& claim, Time now);

 private:
  std::string head_of(const Claim& claim) const;

  const std::string host_;
  const Secret key_;
  const std::size_t most_used_;

  struct Used {
    Time expires;
    std::string nonce;
  };
  std::mutex mutex_;
  std::list<Used> used_;                         // in the order of their use
  std::unordered_set<std::string_view> nonces_;  // of those
  Time forgotten_{};  // challenges that expire by then may have been used, which is not remembered
};

}  // namespace muster::registration
