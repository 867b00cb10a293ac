#include "host/registration/challenges.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "lib/hawk/hawk.hpp"

namespace muster::registration {
namespace {

constexpr std::size_t longest_text = 4096;
constexpr std::string_view before_nonce = "\nnonce: ";
constexpr std::string_view before_code = "\ncode: ";

Error wrong(std::string_view why) {
  return Error::auth("the challenge " + std::string(why) +
                     ": ask for a new one and sign that (POST "
                     "/api/muster/v1/registration-challenges)");
}

}  // namespace

Challenges::Challenges(std::string host, std::size_t most_used)
    : host_(std::move(host)),
      key_(random_token()),
      most_used_(std::max<std::size_t>(1, most_used)) {}

std::string Challenges::head_of(const Claim& claim) const {
  return "muster registration challenge\nhost: " + host_ +
         "\nworkerPoolId: " + claim.name.worker_pool_id.str() +
         "\nproviderId: " + claim.provider.str() +
         "\nworkerGroup: " + claim.name.worker_group.str() +
         "\nworkerId: " + claim.name.worker_id.str() + "\nexpires: ";
}

Challenge Challenges::make(const Claim& claim, Time now) const {
  const Time expires = now + challenge_lifetime;
  std::string text = head_of(claim) + format_time(expires);
  (text += before_nonce) += random_token().reveal();
  const std::string code = hawk::mac_of(key_, text);
  return {(text += before_code) += code, expires};
}

Result<void> Challenges::take(std::string_view text, const Claim& claim, Time now) {
  if (text.size() > longest_text) return wrong("is too long");
  const auto code_at = text.rfind(before_code);
  const auto nonce_at = text.rfind(before_nonce);
  if (code_at == text.npos || nonce_at == text.npos || nonce_at > code_at)
    return wrong("is not complete");
  if (!hawk::same_mac(hawk::mac_of(key_, text.substr(0, code_at)),
                      text.substr(code_at + before_code.size())))
    return wrong("was not made by this host since it started");
  // The rest was made here, so it is complete; only the names may be those of another worker.
  const std::string head = head_of(claim);
  if (!text.starts_with(head) || head.size() > nonce_at)
    return wrong("was made for another worker, pool or provider");
  const auto expires = parse_time(text.substr(head.size(), nonce_at - head.size()));
  if (!expires) return wrong("was made for another worker, pool or provider");
  const auto nonce_end = nonce_at + before_nonce.size();
  const std::lock_guard lock(mutex_);
  // A clock that is set back makes no used challenge valid again.
  while (!used_.empty() && (used_.front().expires <= now || used_.size() >= most_used_)) {
    forgotten_ = std::max(forgotten_, used_.front().expires);
    nonces_.erase(used_.front().nonce);
    used_.pop_front();
  }
  if (*expires <= now) return wrong("has expired");
  const std::string_view nonce = text.substr(nonce_end, code_at - nonce_end);
  if (nonces_.contains(nonce) || *expires <= forgotten_) return wrong("was used before");
  used_.push_back({*expires, std::string(nonce)});
  nonces_.insert(used_.back().nonce);
  return {};
}

}  // namespace muster::registration
