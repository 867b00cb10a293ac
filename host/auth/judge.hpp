// Whether one request is what it claims to be. Nothing about a client is told before the signature
// was checked, but whether there is one of that name. Private to this folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "host/auth/familiar_senders.hpp"
#include "host/auth/grant_cache.hpp"
#include "host/auth/nonce_window.hpp"
#include "host/auth/request_times.hpp"
#include "host/auth/snapshot.hpp"
#include "lib/hawk/hawk.hpp"

namespace muster::auth {

// What the authority remembers of requests. THREADS: any.
struct Memory {
  explicit Memory(std::size_t most_grant_bytes) : grants(most_grant_bytes) {}

  GrantCache grants;
  NonceWindows nonces;
  FamiliarSenders familiar;
  Lockout senders;
  Lockout pairs;  // of an address and a client
};

// Judges one request by one snapshot.
class Judge {
 public:
  Judge(const Snapshot& known, Memory& memory, TimeWatch* watch, Time now, SteadyTime steady,
        std::optional<Address> sender);

  // `again`: of a request that was let in and is not over; its time and nonce are old by now, and
  // that it is no longer good is no guess.
  Result<Authority::VerifiedRequest> judge(const Authority::SignedRequest& request,
                                           const std::string& salt, bool again = false);

 private:
  // What a request says it may do, to be proved by its signature.
  struct Claim {
    std::shared_ptr<const Known> issuer;
    std::shared_ptr<const Grant> grant = {};     // proved before
    std::optional<UnprovedGrant> unproved = {};  // neither: all that the client itself may
    Sha256 key{};                                // of the grant

    const std::vector<Client::Key>& keys() const {
      return grant ? grant->keys : unproved ? unproved->keys : issuer->client.keys;
    }
  };

  Result<Authority::VerifiedRequest> header(const Authority::SignedRequest& request);
  Result<Authority::VerifiedRequest> bewit(const Authority::SignedRequest& request);
  Result<Authority::VerifiedRequest> token(std::string_view token, const std::string& salt);

  bool may_try(const std::string& client_id);
  bool may_try_token(const std::string& client_id) const;
  std::shared_ptr<const Grant> cached(const Sha256& key) const;
  Result<Claim> claim_of(const std::string& id, const std::string& ext);
  Result<Claim> with_ext(const std::string& id, const std::string& ext);
  Result<const Client::Key*> signer(const Claim& claim, std::string_view text,
                                    std::string_view mac) const;
  // The signature is good. Who asks, if the client may still come in.
  Result<std::shared_ptr<const Caller>> accept(const std::string& id, Claim claim) const;
  Error too_many() const;

  const Snapshot& known_;
  Memory& memory_;
  const RequestTimes times_;
  const Time now_;
  const SteadyTime steady_;
  const std::optional<Address> sender_;
  const std::optional<std::chrono::milliseconds> locked_;  // for how long the sender still is
  bool again_ = false;
  std::optional<Address> tried_ = {};  // a pair whose failures count, because the sender is locked
};

}  // namespace muster::auth
